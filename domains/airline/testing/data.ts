import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { airlineInitial } from '../initial.ts';
import type { AirlineRecords, AirlineState } from '../schema.ts';
import { airlineTools } from '../tools.ts';

const root: string =
  process.env['ASSIZE_DATA'] ?? join(dirname(fileURLToPath(import.meta.url)), '../../../../shared/data');

function file(name: string): string {
  return join(root, 'tau-airline', name);
}

export const hasAirline: boolean = existsSync(file('users.json'));

export interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** Calls in order, and what the benchmark's own tools did with them. */
export interface Recorded {
  task_id: number;
  trial?: number;
  calls: Call[];
  outputs: string[];
  changed: { [collection: string]: { [id: string]: unknown } };
}

export function airlineRecords(): AirlineRecords {
  return { users: json('users.json'), flights: json('flights.json'), reservations: json('reservations.json') };
}

export function airlineWorld(): AirlineState {
  return airlineInitial(airlineRecords());
}

/** The 100 runs of an agent. */
export function recordedRuns(): Recorded[] {
  const expected = lines<Recorded>('expected-runs.jsonl');
  return lines<Recorded>('runs.jsonl').map((run, i) => ({ ...run, ...expected[i] }) as Recorded);
}

/** The benchmark's own solutions of its 50 tasks. */
export function recordedSolutions(): Recorded[] {
  const expected = lines<Recorded>('expected-tasks.jsonl');
  const tasks = json<{ task_id: number; actions: Call[] }[]>('tasks.json');
  return tasks.map(({ actions, ...task }, i) => ({ ...task, calls: actions, ...expected[i] }) as Recorded);
}

export function isWrite({ name }: Call): boolean {
  return (airlineTools.writes as readonly string[]).includes(name);
}

function json<T>(name: string): T {
  return JSON.parse(readFileSync(file(name), 'utf8'));
}

function lines<T>(name: string): T[] {
  return readFileSync(file(name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
