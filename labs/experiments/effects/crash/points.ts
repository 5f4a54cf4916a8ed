import type { Sink } from 'assize/internal/effects';
import type { Step } from './steps.ts';

/** The points at which a process is killed, by its progress. */
export const POINTS = [
  'in the body, before any call',
  'before a call, whose intent is durable',
  'while the sink does the call',
  'after the call, before that is written',
  'before the commit',
  'after the commit',
  'before the held call',
  'while the sink does the held call',
  'after the held call, before that is written',
  'when the caller is told',
  'before what was done is undone',
  'while the sink undoes it',
  'after that, before it is written',
] as const;
export type Point = (typeof POINTS)[number];

/** Whether the body aborts, so its effects are compensated. */
export function isOfUndoing(point: Point): boolean {
  return POINTS.indexOf(point) >= POINTS.indexOf('before what was done is undone');
}

/**
 * The points at which the sink is executing a call when the process is killed. The owner of the
 * sink kills it there.
 */
export const AT_SINK: Partial<
  Record<Point, { readonly did: 'do' | 'undo'; readonly tool: 'reserve' | 'send' }>
> = {
  'while the sink does the call': { did: 'do', tool: 'reserve' },
  'while the sink does the held call': { did: 'do', tool: 'send' },
  'while the sink undoes it': { did: 'undo', tool: 'reserve' },
};

/** The arguments of a process that is to be killed. */
export interface VictimArguments {
  readonly url: string;
  readonly port: number;
  readonly sink: Sink;
  readonly point: Point;
}

/** The arguments of a process that recovers and is to be killed during the recovery. */
export interface Recovery {
  readonly url: string;
  readonly port: number;
  readonly sink: Sink;
  readonly step: Step;
}
