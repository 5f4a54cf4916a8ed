/**
 * Recorded input for adjudication: an agent's runs, the benchmark's own solutions, and the results
 * of its tools.
 */

import { arg, checkArgument, type Json } from 'assize/internal/base';
import { z } from 'zod';
import type { ChangedRecords } from './records.ts';

/** One tool call, with its arguments as recorded. The kernel checks whether the arguments fit. */
export interface RecordedCall {
  readonly name: string;
  readonly arguments: { readonly [name: string]: Json };
}

/** A run, or a solution (which has no trial, reward or model). */
export interface RecordedRun {
  readonly task_id: number;
  readonly trial?: number;
  readonly reward?: number;
  /** The acting model: the writ's subject is `agent:<model>`. */
  readonly model: string;
  readonly calls: readonly RecordedCall[];
  /** The user of a solution. An agent has to find the user of a run by its calls. */
  readonly user?: string;
  /** The answers of the tools that the message log has, by index of the call. */
  readonly outputs: ReadonlyMap<number, string>;
}

/** The results of the benchmark's own tools for a run's calls. */
export interface ExpectedRun {
  readonly task_id: number;
  readonly trial?: number;
  readonly changed: ChangedRecords;
}

/**
 * The name of a run, for matching runs with expectations.
 *
 * @throws ArgumentError `bad_argument`
 */
export function runKey(run: { readonly task_id: number; readonly trial?: number }): string {
  checkArgument(arg.members({ task_id: arg.number, trial: arg.optional(arg.number) }), run, 'run');
  const { task_id, trial } = run;
  return trial === undefined ? `task ${task_id}` : `task ${task_id}, trial ${trial}`;
}

// Passed through as it is: a schema would make a copy of it, and drop a member named __proto__.
const object = z.custom<{ [name: string]: Json }>(isObject, 'Invalid input: expected object');
const call: z.ZodType<RecordedCall> = z.object({ name: z.string().min(1), arguments: object });

const message = z.object({
  role: z.string(),
  content: z.string().nullable(),
  call: z.int().nonnegative().optional(),
});

/** A line of `runs.jsonl`. Members that are not known here are left alone. */
export const recordedRun: z.ZodType<RecordedRun> = z
  .object({
    task_id: z.int(),
    trial: z.int(),
    reward: z.number(),
    model: z.string().min(1).max(200).default('unnamed'),
    calls: z.array(call),
    messages: z.array(message).default([]),
  })
  .superRefine(({ calls, messages }, context) => {
    messages.forEach((entry, index) => {
      if (entry.call === undefined || entry.call < calls.length) return;
      context.addIssue({
        code: 'custom',
        path: ['messages', index, 'call'],
        message: `there is no call ${entry.call}`,
      });
    });
  })
  .transform(({ messages, ...run }) => ({ ...run, outputs: outputsOf(messages) }));

/** An element of `tasks.json`: its actions are the benchmark's solution. */
export const recordedTask: z.ZodType<RecordedRun> = z
  .object({ task_id: z.int(), user_id: z.string().optional(), actions: z.array(call) })
  .transform(({ task_id, user_id: user, actions }) => ({
    ...{ task_id, model: 'benchmark', calls: actions, outputs: new Map() },
    ...(user !== undefined && { user }),
  }));

/** A line of `expected-runs.jsonl` or `expected-tasks.jsonl`. */
export const expectedRun: z.ZodType<ExpectedRun> = z
  .object({ task_id: z.int(), trial: z.int().optional(), changed: z.record(z.string(), object) })
  .transform(({ trial, ...rest }) => (trial === undefined ? rest : { ...rest, trial }));

function outputsOf(messages: readonly z.infer<typeof message>[]): Map<number, string> {
  const outputs = new Map<number, string>();
  for (const { role, call: index, content } of messages) {
    if (role === 'tool' && index !== undefined && content !== null) outputs.set(index, content);
  }
  return outputs;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
