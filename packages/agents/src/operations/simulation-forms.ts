import { hash, json, patchForm } from '@assize/command/operation';
import { z } from 'zod';

const count = z.number().int();
const amounts = z.record(z.string(), z.number());
const rules = z
  .record(z.string(), z.strictObject({ rejected: count, escalated: count }))
  .describe('how often each rule rejected or escalated');

const stepForm = z
  .strictObject({
    seq: count.describe('of the entry: of the record, or of the branch in memory'),
    turn: count.optional(),
    ruling: z.enum(['committed', 'rejected', 'escalated', 'approved', 'refused', 'expired']),
    action: z.string(),
    role: z.strictObject({ name: z.string(), params: z.record(z.string(), z.string()) }),
    args: json.optional(),
    reason: z.string().optional(),
    rule: z.string().optional().describe('the invariant, or the rule of the policy'),
    detail: z.string().optional(),
    spent: amounts.optional(),
  })
  .meta({ id: 'SimulatedStep', description: 'A ruling of the record, or of a branch in memory.' });

const parting = {
  step: count.describe('the index of the first ruling that differs, after the shared entry'),
  turn: count.optional(),
  one: stepForm.optional().describe('absent: the first one has ended there'),
  other: stepForm.optional().describe('absent: the other one has ended there'),
};

const outcome = z.enum(['done', 'waits', 'stuck', 'limit', 'no_answer', 'failed']);
const tokens = {
  ...{ input_tokens: count, output_tokens: count },
  ...{ asked_input_tokens: count, asked_output_tokens: count },
};

const sampleForm = z
  .strictObject({
    variant: z.string(),
    sample: count.describe('from 0'),
    outcome,
    fault: z
      .strictObject({
        code: z.string(),
        detail: z.string(),
        tool: z.string().optional(),
        input: json.optional(),
      })
      .optional()
      .describe(
        'why the sample has no answer to a call, or failed. The log of the server has the text of a failure',
      ),
    head: hash.describe('the last entry of the branch'),
    turns: count,
    steps: z.array(stepForm),
    difference: z
      .array(patchForm)
      .describe('from the last state of the record to that of the sample'),
    calls: z.array(
      z.strictObject({
        tool: z.string(),
        input: json,
        from: z.enum(['record', 'simulator']),
        answer: json.optional(),
      }),
    ),
    spent: amounts,
    parts: z
      .strictObject(parting)
      .optional()
      .describe(
        'where it parts from the record (`one`); absent: all rulings are those of the record',
      ),
    asked: z
      .strictObject({ recorded: count, repeated: count, asked: count, ...tokens })
      .describe('questions to models and services, by the source of their answers'),
  })
  .meta({ id: 'SimulatedSample', description: 'One continuation of the trajectory by a variant.' });

const variantForm = z
  .strictObject({
    name: z.string(),
    outcomes: z.record(outcome, count),
    medians: z
      .strictObject({
        ...{
          turns: count,
          committed: count,
          rejected: count,
          escalated: count,
          approved: count,
          calls: count,
        },
        ...{ questions: count, asked: count, ...tokens, spent: amounts, rules },
      })
      .describe(
        'over all samples; one that failed or has no answer counts with its part up to there',
      ),
    rules: rules.describe('how often each rule rejected or escalated in all samples'),
    calls: z.record(z.string(), z.strictObject({ record: count, simulator: count })),
    spent: amounts.describe('of all samples'),
    samples: z.array(sampleForm),
  })
  .meta({ id: 'SimulatedVariant', description: 'The samples of one variant.' });

const recordedForm = z
  .strictObject({
    turns: count,
    rulings: z.strictObject({
      ...{ committed: count, rejected: count, escalated: count, approved: count, refused: count },
      rules,
    }),
    calls: z.record(z.string(), count),
    spent: amounts,
    left_out: count.describe('entries of other writers; the branches do not have them'),
  })
  .meta({ id: 'SimulatedRecord', description: 'The record after the shared entry.' });

/** The document of `simulate`, as `assize lab simulate --json` prints it. */
export const simulationForm = z
  .strictObject({
    trajectory_id: z.string(),
    at: z
      .strictObject({ seq: count, id: hash })
      .describe('the last entry that all branches share with the record'),
    recorded: recordedForm,
    variants: z.array(variantForm),
    partings: z
      .array(z.strictObject({ variants: z.array(z.string()).length(2), sample: count, ...parting }))
      .describe('where two variants part; a pair with equal rulings in every sample is left out'),
  })
  .meta({ id: 'Simulation' });

export type SimulationDocument = z.input<typeof simulationForm>;
