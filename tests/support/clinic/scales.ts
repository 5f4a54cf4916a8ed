import { z } from 'zod';
import { defineDomain, isErased, sensitive } from '#kernel';

const said = (patient: string, weight: string) => ({
  verb: 'assert' as const,
  space: 'ward',
  subject: patient,
  predicate: 'weight',
  object: weight,
});
const weighing = z.object({ at: z.string(), patient: z.string(), weight: z.string() });

/**
 * A domain with actions that write the asserted facts into the state, both marked as sensitive and
 * unmarked.
 */
export const scales = defineDomain({
  name: 'scales',
  version: '1',
  freeze: 'footprint',
  state: z.object({
    cards: z.record(
      z.string(),
      sensitive(z.object({ text: z.string(), grams: z.number(), seen: z.boolean() })),
    ),
    queue: z.array(sensitive(z.string())),
    board: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
  initial: { cards: {}, queue: [], board: {} },
  counselors: { doctor: (principal) => principal.startsWith('dr ') },
  processes: {
    weighing: { writes: ['/cards/*', '/queue'] },
    posting: { writes: ['/cards/*', '/board/*'] },
  },
  roles: { nurse: { processes: ['weighing', 'posting'] } },
  actions: {
    weigh: {
      process: 'weighing',
      args: weighing,
      apply: ({ cards, queue }, { at, patient, weight }) => {
        cards[at] = {
          text: `${patient} weighs ${weight}`,
          grams: Number(weight.replace(/\D/g, '')) * 1_000,
          seen: false,
        };
        queue.push(`${patient} is at the scales`);
      },
      beliefs: ({ patient, weight }) => [said(patient, weight)],
    },
    /** Asserts nothing, and uses the stored card. */
    see: {
      process: 'weighing',
      args: z.object({ at: z.string() }),
      apply: ({ cards }, { at }) => {
        const card = cards[at];
        if (card === undefined || isErased(card)) throw new Error('there is no such card');
        card.seen = true;
      },
    },
    /** Says nothing, and puts something else there. */
    clear: {
      process: 'weighing',
      args: z.object({ at: z.string() }),
      apply: ({ cards }, { at }) => {
        cards[at] = { text: 'a card for somebody', grams: 0, seen: false };
      },
    },
    /** All that wait are at other places after it. */
    next: {
      process: 'weighing',
      args: z.object({}),
      apply: ({ queue }) => {
        queue.shift();
      },
    },
    /** In the open, under a name or as a figure, beside a card. */
    post: {
      process: 'posting',
      args: weighing.extend({ shown: z.union([z.string(), z.number()]) }),
      apply: ({ cards, board }, { at, patient, weight, shown }) => {
        cards[at] = { text: `${patient} weighs ${weight}`, grams: 0, seen: false };
        board[at] = shown;
      },
      beliefs: ({ patient, weight }) => [said(patient, weight)],
    },
    /** More cards than one entry erases. */
    stack: {
      process: 'posting',
      args: weighing.extend({ cards: z.number().int() }),
      apply: ({ cards, board }, { at, patient, weight, cards: count }) => {
        for (let i = 0; i < count; i++)
          cards[`${at} ${i}`] = { text: `${i} of ${patient}`, grams: i, seen: false };
        board[at] = weight;
      },
      beliefs: ({ patient, weight }) => [said(patient, weight)],
    },
  },
  invariants: [],
  memory: { predicates: { weight: { cardinality: 'single-valued', strategy: 'evi' } } },
});
