import { z } from 'zod';
import { type Domain, defineDomain, escalate, isErased, pass, sensitive } from '#kernel';

const patient = z.object({
  name: sensitive(z.string()),
  visits: z.number().int(),
  notes: z.array(sensitive(z.object({ text: z.string(), urgent: z.boolean() }))),
});

/**
 * A ward. Names and notes are sensitive, and so are the arguments that contain them. A note by
 * `flag` needs an approval.
 */
export const ward = defineDomain({
  name: 'ward',
  version: '1',
  freeze: 'footprint',
  state: z.object({
    patients: z.record(z.string(), patient),
    flagged: z.number().int(),
    agreed: z.number().int(),
  }),
  initial: { patients: {}, flagged: 0, agreed: 0 },
  counselors: { md: (principal) => principal.startsWith('dr-') },
  processes: {
    admitting: { writes: ['/patients/{id}'] },
    flagging: { writes: ['/patients/{id}', '/flagged'] },
  },
  roles: { nurse: { params: ['id'], processes: ['admitting', 'flagging'] } },
  actions: {
    admit: {
      process: 'admitting',
      args: z.object({ name: sensitive(z.string()) }),
      apply: (state, { name }, { role }) => {
        state.patients[role['id'] as string] = { name, visits: 0, notes: [] };
      },
    },
    note: {
      process: 'admitting',
      args: z.object({ text: sensitive(z.string()) }),
      apply: (state, { text }, { role }) => {
        const who = state.patients[role['id'] as string];
        if (who === undefined || typeof text !== 'string') throw new Error('no such patient');
        who.visits += 1;
        who.notes.push({ text, urgent: false });
      },
    },
    correct: {
      process: 'admitting',
      args: z.object({ index: z.number().int(), urgent: z.boolean() }),
      apply: (state, { index, urgent }, { role }) => {
        const note = state.patients[role['id'] as string]?.notes[index];
        if (note === undefined || isErased(note)) throw new Error('there is no such note');
        note.urgent = urgent;
      },
    },
    shift: {
      process: 'admitting',
      args: z.object({}),
      apply: (state, _, { role }) => {
        const notes = state.patients[role['id'] as string]?.notes;
        if (notes === undefined || notes.length === 0) throw new Error('there is nothing to shift');
        notes.shift();
      },
    },
    dismiss: {
      process: 'admitting',
      args: z.object({}),
      apply: (state, _, { role }) => {
        delete state.patients[role['id'] as string];
      },
    },
    flag: {
      process: 'flagging',
      args: z.object({ text: sensitive(z.string()) }),
      apply: (state, { text }, { role }) => {
        state.patients[role['id'] as string]?.notes.push({ text: text as string, urgent: true });
        state.flagged += 1;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant(
      'FLAGS_ARE_AGREED',
      ['/flagged', '/agreed'],
      ({ flagged, agreed }) => (flagged <= agreed ? pass : escalate(`${flagged} flags`)),
      {
        channel: 'md',
        onApprove: (state) => {
          state.agreed = state.flagged;
        },
      },
    ),
  ],
}) as unknown as Domain;
