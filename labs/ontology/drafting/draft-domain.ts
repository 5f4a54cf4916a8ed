import { defineDomain, escalate, pass, reject } from 'assize';
import { z } from 'zod';
import { FINDING } from './finding.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().nonnegative();
const round = z.strictObject({
  question: hash,
  answer: hash,
  module: hash.optional(),
  errors: count,
  findings: z.array(FINDING),
});
const submission = z.strictObject({
  round: z.string(),
  module: hash,
  text: z.string(),
  tests: z.string(),
});

/**
 * The record of a drafted module: its questions, answers and findings, and the person that accepts
 * it. Only a module of a round without errors can be submitted, and only a person accepts it.
 */
export const draftDomain = defineDomain({
  name: 'ontology-draft',
  version: '1',
  state: z.object({
    /** The subject of the draft. */
    about: z.object({
      domain: z.string(),
      file: z.string(),
      model: z.string(),
      /** As canonical JSON. */
      ontology: z.string(),
      scaffold: z.string(),
      /** The hash of the reference that the model read. */
      reference: hash.optional(),
    }),
    /** By number, from 1. */
    rounds: z.record(z.string(), round),
    submitted: z.record(z.string(), submission),
    /** By hash of the module. */
    accepted: z.record(hash, z.object({ by: z.string(), at: z.string() })),
  }),
  processes: {
    drafting: { writes: ['/rounds'] },
    submission: { reads: ['/rounds'], writes: ['/submitted'] },
    acceptance: { writes: ['/accepted'] },
  },
  roles: {
    drafter: { processes: ['drafting', 'submission'] },
    reviewer: { processes: ['acceptance'] },
  },
  counselors: { human: (principal) => isPerson(principal) },
  actions: {
    recordRound: {
      process: 'drafting',
      description: 'Records one question to the model, with the findings on its answer.',
      args: round.extend({ number: z.string().regex(/^[1-9]\d?$/) }),
      apply: (state, { number, ...row }) => {
        if (state.rounds[number] !== undefined)
          throw new Error(`round ${number} is recorded already`);
        state.rounds[number] = row;
      },
    },
    submit: {
      process: 'submission',
      description: 'Submits the module of a round for acceptance.',
      args: submission,
      apply: (state, args) => {
        if (state.rounds[args.round]?.module !== args.module)
          throw new Error(`round ${args.round} made another module`);
        state.submitted[args.module] = args;
      },
    },
  },
  invariants: ({ each }) => [
    each(
      'ROUND_HAS_NO_ERROR',
      '/submitted/*',
      { reads: ['/rounds'], with: ({ round: number }) => ({ round: `/rounds/${number}` }) },
      (_, { round: row }) =>
        row?.errors === 0 ? pass : reject('the round of the module has errors'),
    ),
    each(
      'A_PERSON_ACCEPTS',
      '/submitted/*',
      {
        reads: ['/accepted'],
        with: ({ module }) => ({ accepted: `/accepted/${module}` }),
        channel: 'human',
        onApprove: ({ accepted }, { counselor, at, keys: [module = ''] }) => {
          accepted[module] = { by: counselor, at };
        },
      },
      (_, { accepted }) =>
        accepted === undefined ? escalate('a person accepts the module') : pass,
    ),
  ],
});

/** Whether a principal is named as a person. */
export function isPerson(principal: string): boolean {
  return /^human:./.test(principal);
}

/** The recorded state of one draft. */
export type DraftState = z.infer<typeof draftDomain.state>;
