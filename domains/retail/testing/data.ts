import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authenticatedUser } from '../authentication.ts';
import { retailInitial } from '../initial.ts';
import type { RetailRecords, RetailState } from '../schema.ts';
import { retailTools } from '../tools.ts';

const root: string =
  process.env['ASSIZE_DATA'] ?? join(dirname(fileURLToPath(import.meta.url)), '../../../../shared/data');

function file(name: string): string {
  return join(root, 'tau-retail', name);
}

export const hasRetail: boolean = existsSync(file('users.json'));

export interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** Calls in order, for whom they were made, and what the benchmark's own tools did with them. */
export interface Recorded {
  task_id: number;
  user: string;
  calls: Call[];
  outputs: string[];
  changed: { [collection: string]: { [id: string]: unknown } };
}

export function readRetailRecords(): RetailRecords {
  return { users: json('users.json'), products: json('products.json'), orders: json('orders.json') };
}

export function retailWorld(): RetailState {
  return retailInitial(readRetailRecords());
}

/** The benchmark's own solutions of its 70 tasks. */
export function recordedSolutions(): Recorded[] {
  const records = readRetailRecords();
  const expected = lines<Pick<Recorded, 'outputs' | 'changed'>>('expected-tasks.jsonl');
  const tasks = json<{ task_id: number; actions: Call[] }[]>('tasks.json');
  return tasks.map(({ task_id, actions: calls }, i) => ({
    task_id,
    user: authenticatedUser(calls, records) ?? 'nobody',
    calls,
    ...(expected[i] as Pick<Recorded, 'outputs' | 'changed'>),
  }));
}

export function isWrite({ name }: Call): boolean {
  return (retailTools.writes as readonly string[]).includes(name);
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
