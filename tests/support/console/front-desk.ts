import { z } from 'zod';
import { type Domain, defineDomain, escalate, pass } from '#kernel';

/** A desk whose bookings have arguments of every form, and a memory whose contradictions wait. */
export const frontDesk: Domain = defineDomain({
  name: 'front',
  version: '1',
  state: z.object({
    bookings: z.record(
      z.string(),
      z.object({ guests: z.number().int(), by: z.string().optional() }),
    ),
  }),
  initial: { bookings: {} },
  processes: { booking: { writes: ['/bookings/{room}'] } },
  roles: { host: { params: ['room'], processes: ['booking'] } },
  actions: {
    book: {
      process: 'booking',
      description: 'Books a room.',
      args: z.strictObject({
        guests: z.number().int().min(1).max(12).describe('adults and children'),
        rate: z.number(),
        isPaid: z.boolean(),
        size: z.enum(['single', 'double']),
        from: z.iso.datetime(),
        note: z.string().max(2_000).optional(),
        contact: z.strictObject({ name: z.string(), phone: z.string().optional() }),
        extras: z.array(z.strictObject({ what: z.string(), count: z.number().int() })),
        tags: z.array(z.string()).optional(),
        code: z.union([z.string(), z.number()]),
      }),
      apply: (state, { guests }, { role }) => {
        state.bookings[role.room] = { guests };
      },
      beliefs: ({ contact: { name, phone = 'none' } }) => [
        { verb: 'assert', space: 'front', subject: name, predicate: 'phone', object: phone },
      ],
    },
    charge: {
      process: 'booking',
      args: z.strictObject({ guests: z.int(), cents: z.int().min(1), in: z.string() }),
      present: {
        title: 'Charge {cents}',
        fields: { cents: { label: 'Amount', money: 'in' } },
        confirm: 'The card is charged {cents}.',
      },
      apply: (state, { guests }, { role }) => {
        state.bookings[role.room] = { guests };
      },
    },
  },
  invariants: ({ each }) => [
    each(
      'MANY',
      '/bookings/*',
      {
        channel: 'boss',
        onApprove: (state, { counselor, keys: [room] }) => {
          const { guests } = state.bookings[room as string] as { readonly guests: number };
          state.bookings[room as string] = { guests, by: counselor };
        },
      },
      ({ guests, by }) => (guests > 4 && by === undefined ? escalate('more than 4 guests') : pass),
    ),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
  memory: {
    predicates: { phone: { cardinality: 'single-valued', strategy: 'await', channel: 'boss' } },
  },
}) as unknown as Domain;

/** The agent of the desk, and the people. */
export const FRONT_PRINCIPALS = {
  'agent:host': { kinds: ['agent'], grants: [{ actions: ['**'], scopes: ['**'] }] },
  'boss:ada': { kinds: ['counselor'] },
} as const;

export const BOOKING = {
  guests: 6,
  rate: 80.5,
  isPaid: false,
  size: 'double',
  from: '2026-03-01T10:00:00Z',
  contact: { name: 'ada' },
  extras: [{ what: 'cot', count: 1 }],
  code: 'A7',
};
