import { defineDomain, pass, reject } from 'assize/internal/kernel';
import { verifyConsistency } from 'assize/internal/merkle';
import { z } from 'zod';

const text = z.string().min(1).max(256);
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const reason = z.string().min(1).max(4_096);

const state = z.object({
  /** The number of orders: halts, resumes, revocations, and steps of moves. */
  orders: z.number().int().nonnegative(),
  /** The last checkpoint of each cell. */
  cells: z.record(z.string(), z.object({ size: z.number().int().positive(), root: hex })),
  /** The cell of each tenant. `to`: the cell that the tenant moves to. */
  tenants: z.record(z.string(), z.object({ cell: text, to: text.optional() })),
  /** The halted tenants, with the reason. `*`: every tenant. */
  halted: z.record(z.string(), reason),
  /** The revoked principals, with the reason. */
  revoked: z.record(z.string(), reason),
});

export type DirectoryState = z.infer<typeof state>;

/** The trajectory of the root store that is the root log. */
export const ROOT_LOG = 'cells';
/** The name of a halt or a resume of every tenant. */
export const EVERY_TENANT = '*';

/**
 * The root log over the cells of a deployment: where each tenant lives, the orders that every cell
 * follows, and the checkpoints of all cells. A checkpoint must continue the last one of its cell
 * (RFC 9162, 2.1.4), so the head of this one ledger stands for the logs of all cells.
 */
export const directory = defineDomain({
  name: 'cells',
  version: '1',
  state,
  initial: { orders: 0, cells: {}, tenants: {}, halted: {}, revoked: {} },
  processes: {
    reporting: { writes: ['/cells/{cell}'] },
    placing: { writes: ['/tenants/*', '/orders'] },
    ordering: { writes: ['/halted/*', '/revoked/*', '/orders'] },
  },
  roles: {
    cell: { params: ['cell'], processes: ['reporting'] },
    operator: { processes: ['placing', 'ordering'] },
  },
  actions: {
    report: {
      process: 'reporting',
      description:
        'Records a checkpoint of the log of a cell, with the proof that it continues the last one.',
      args: z.object({ size: z.number().int().positive(), root: hex, proof: z.array(hex).max(65) }),
      apply: (state, { size, root, proof }, { role: { cell } }) => {
        const before = state.cells[cell];
        if (before !== undefined && size <= before.size)
          throw new Error(`The last checkpoint of ${cell} has ${before.size} entries`);
        if (before !== undefined && !isContinued(before, { size, root }, proof))
          throw new Error(
            `The log of ${cell} does not continue its checkpoint of ${before.size} entries`,
          );
        state.cells[cell] = { size, root };
      },
    },
    place: {
      process: 'placing',
      description: 'Places a new tenant in a cell.',
      args: z.object({ tenant: text, cell: text }),
      apply: (state, { tenant, cell }) => {
        if (tenant === EVERY_TENANT) throw new Error(`The name ${EVERY_TENANT} means every tenant`);
        const placed = state.tenants[tenant];
        if (placed !== undefined) throw new Error(`The tenant ${tenant} lives in ${placed.cell}`);
        state.tenants[tenant] = { cell };
      },
    },
    beginMove: {
      process: 'placing',
      description: 'Stops a tenant in its cell, so that it can move to another.',
      args: z.object({ tenant: text, to: text }),
      apply: (state, { tenant, to }) => {
        const placed = state.tenants[tenant];
        if (placed === undefined)
          throw new Error(`No cell has the tenant ${tenant}: place it first`);
        if (placed.to !== undefined)
          throw new Error(
            `The tenant ${tenant} moves to ${placed.to} already: end that move, or cancel it`,
          );
        if (placed.cell === to) throw new Error(`The tenant ${tenant} lives in ${to} already`);
        placed.to = to;
        state.orders += 1;
      },
    },
    endMove: {
      process: 'placing',
      description: 'Ends a move: the tenant lives in the new cell, or stays in the old one.',
      args: z.object({ tenant: text, cell: text }),
      apply: (state, { tenant, cell }) => {
        const placed = state.tenants[tenant];
        if (placed?.to === undefined) throw new Error(`The tenant ${tenant} does not move`);
        if (cell !== placed.cell && cell !== placed.to)
          throw new Error(`The tenant ${tenant} moves from ${placed.cell} to ${placed.to}`);
        state.tenants[tenant] = { cell };
        state.orders += 1;
      },
    },
    halt: {
      process: 'ordering',
      description: 'Halts a tenant, or all of them (*), in every cell.',
      args: z.object({ tenant: text, reason }),
      apply: (state, { tenant, reason }) => {
        if (state.halted[tenant] !== undefined) throw new Error(`${tenant} is halted already`);
        state.halted[tenant] = reason;
        state.orders += 1;
      },
    },
    resume: {
      process: 'ordering',
      description: 'Ends a halt of the root log.',
      args: z.object({ tenant: text, reason }),
      apply: (state, { tenant }) => {
        if (state.halted[tenant] === undefined && state.halted[EVERY_TENANT] !== undefined)
          throw new Error(`every tenant is halted: resume ${EVERY_TENANT}`);
        if (state.halted[tenant] === undefined) throw new Error(`${tenant} is not halted`);
        delete state.halted[tenant];
        state.orders += 1;
      },
    },
    revoke: {
      process: 'ordering',
      description: 'Revokes every grant of a principal in every cell, for good.',
      args: z.object({ principal: text, reason }),
      apply: (state, { principal, reason }) => {
        if (state.revoked[principal] !== undefined)
          throw new Error(`${principal} is revoked already`);
        state.revoked[principal] = reason;
        state.orders += 1;
      },
    },
  },
  invariants: ({ each }) => [
    each('MOVES_ELSEWHERE', '/tenants/*', {}, ({ cell, to }) =>
      cell === to ? reject(`a tenant cannot move from ${cell} to ${cell}`) : pass,
    ),
  ],
});

function isContinued(
  before: { readonly size: number; readonly root: string },
  now: { readonly size: number; readonly root: string },
  proof: readonly string[],
): boolean {
  const head = ({ size, root }: typeof before) => ({ size, root: bytesOf(root) });
  return verifyConsistency(head(before), head(now), proof.map(bytesOf));
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}
