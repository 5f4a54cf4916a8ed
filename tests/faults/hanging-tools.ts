import { z } from 'zod';
import { declareTool, type Tool } from '#effects';

export const never = (): Promise<never> => new Promise(() => undefined);

/** Tools that never come to an end, each in its own part. */
export const hanging: readonly Tool[] = [
  declareTool({
    name: 'hanging.plan',
    input: z.strictObject({}),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['test:r'],
    plan: never,
    execute: () => null,
  }),
  declareTool({
    name: 'hanging.read',
    input: z.strictObject({}),
    class: 'read',
    reads: ['test:r'],
    execute: never,
  }),
];

/** The result of a promise: the code or the message of its error, else `done`. */
export function codeOf(made: Promise<unknown>): Promise<unknown> {
  return made.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}
