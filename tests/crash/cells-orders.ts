import type { MoveStep } from '#cells';
import { seededNumbers } from '../../packages/testing/src/faults.ts';

// The deployment that its server processes share with the test: each cell is named by its fault.

export const CELLS = {
  killed: ['t0', 't1'],
  frozen: ['t2', 't3'],
  cut: ['t4', 't5'],
  ahead: ['t6', 't7'],
} as const;
export type CellName = keyof typeof CELLS;
export const CELL_NAMES = Object.keys(CELLS) as readonly CellName[];
/** Each tenant has one world, of its name. */
export const TENANTS: readonly string[] = Object.values(CELLS).flat();
export const AGENTS_PER_TENANT = 2;
export const AGENTS = TENANTS.length * AGENTS_PER_TENANT;

const KINDS = ['count', 'count', 'count', 'pay', 'book', 'refuse'] as const;
const SLOTS = 20;

/** The proposal of a tenant's agent under one idempotency key. */
export interface CellOrder {
  readonly tenant: string;
  readonly key: string;
  readonly kind: (typeof KINDS)[number];
  readonly slot: string;
  readonly body: object;
}

export function cellOrder(seed: number, tenant: string, number: number): CellOrder {
  const next = seededNumbers(seed + number * 7_919 + TENANTS.indexOf(tenant));
  const kind = KINDS[next(KINDS.length)]!;
  const key = `${tenant}-${number}`;
  const slot = `s${next(SLOTS)}`;
  const body = { action: kind, role: { name: 'counter', params: { slot } }, args: { order: key } };
  return { tenant, key, kind, slot, body };
}

/** The argument of a server process, as JSON. */
export interface CellProcessOptions {
  /** `cells:FILE?cell=NAME`. */
  readonly url: string;
  readonly port: number;
  readonly sinkPort: string;
  /** A file that gets the errors of the server's log. */
  readonly log: string;
  /** The longest time of a statement, and of a connection. Default: those of the store. */
  readonly patienceMs?: number;
}

/** The argument of a mover process, as JSON. */
export interface MoverOptions {
  readonly file: string;
  readonly tenant: string;
  readonly to: CellName;
  /** The step at whose begin the process is killed. Default: none. */
  readonly diesAt?: MoveStep;
}
