import { isAssizeError, type Json } from 'assize/internal/base';
import { issueText, issueWords, parseStrict, WORLD_LIMITS } from 'assize/internal/canon';
import { onlyObject, stripFence } from 'assize/internal/oracle';
import { z } from 'zod';
import type { DraftFinding } from './finding.ts';
import type { Holes } from './holes.ts';

/** Maximum number of characters of a whole answer, and of one fragment of source. */
export const ANSWER_MAX = 400_000;
const FRAGMENT_MAX = 10_000;
const ACTIONS_MAX = 100;
const EXAMPLES_MAX = 6;

const source = z.string().min(1).max(FRAGMENT_MAX);
const state = z.json();
const examples = z.array(state).min(1).max(EXAMPLES_MAX);

/** The parts that a model writes. Every source is one expression of TypeScript. */
export interface Answer {
  /** By place of the state: the schema of what stands there. */
  readonly schemas: Readonly<Record<string, string>>;
  readonly initial: Json;
  readonly actions: readonly {
    readonly name: string;
    readonly process: string;
    readonly args: string;
    readonly apply: string;
  }[];
  /** By id: the check, what an approval writes, and states that show the rule. */
  readonly invariants: Readonly<
    Record<
      string,
      {
        readonly check: string;
        readonly onApprove?: string | undefined;
        readonly blocks: readonly Json[];
        readonly passes: readonly Json[];
      }
    >
  >;
}

/** The form of an answer: every hole of the scaffold, and nothing else. */
export function answerForm({ places, processes, invariants }: Holes): z.ZodType<Answer> {
  const invariant = (escalates: boolean) =>
    z.strictObject({
      check: source,
      ...(escalates && { onApprove: source }),
      blocks: examples,
      passes: examples,
    });
  return z.strictObject({
    schemas: z.strictObject(Object.fromEntries(places.map((place) => [place, source]))),
    initial: state,
    actions: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[a-z][A-Za-z0-9_]{0,63}$/),
          process: z.enum([...processes]),
          args: source,
          apply: source,
        }),
      )
      .max(ACTIONS_MAX),
    invariants: z.strictObject(
      Object.fromEntries(invariants.map(({ id, escalates }) => [id, invariant(escalates)])),
    ),
  }) as unknown as z.ZodType<Answer>;
}

/** The answer in a model's text, or the reason for which there is none. */
export function readAnswer(text: string, holes: Holes): Answer | DraftFinding {
  if (text.length > ANSWER_MAX)
    return wrong('the answer', `it has more than ${ANSWER_MAX} characters`);
  const value = objectIn(text);
  if ('fault' in value) return wrong('the answer', value.fault);
  const parsed = answerForm(holes).safeParse(value.object, { error: issueWords });
  if (!parsed.success) return wrong('the answer', issueText(parsed.error));
  const names = parsed.data.actions.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return wrong(`action ${twice}`, 'two actions have this name');
  const missing = holes.processes.find(
    (name) => !parsed.data.actions.some(({ process }) => process === name),
  );
  return missing === undefined
    ? parsed.data
    : wrong(`process ${missing}`, 'no action belongs to this process');
}

function objectIn(text: string): { readonly object: Json } | { readonly fault: string } {
  for (const candidate of [stripFence(text), onlyObject(text)]) {
    if (candidate === undefined) continue;
    try {
      return { object: parseStrict(candidate, WORLD_LIMITS) };
    } catch (error) {
      if (!isAssizeError(error)) throw error;
    }
  }
  return { fault: 'it is not one JSON object' };
}

function wrong(where: string, says: string): DraftFinding {
  return { check: 'form', severity: 'error', where, says };
}
