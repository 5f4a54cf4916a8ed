import { type Json, markOwnPackage } from 'assize/internal/base';
import { isInstant, parseCanonical } from 'assize/internal/canon';
import {
  type CallScope,
  COORDINATOR,
  createOracle,
  ORACLE_LIMITS,
  type Oracle,
  type OracleCall,
  type OracleStore,
  oracleKey,
} from 'assize/internal/oracle';
import type { SimulationSource } from './options.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** The questions of one sample to models and other services, by the source of their answers. */
export interface AskedQuestions {
  /** Answered by the record of the trajectory. */
  recorded: number;
  /** Answered by the log of an earlier or parallel sample. */
  repeated: number;
  /** Asked now. */
  asked: number;
  /** Tokens of all answers that name them, except those of the record of the trajectory. */
  inputTokens: number;
  outputTokens: number;
  /** Those of the answers asked now. */
  askedInputTokens: number;
  askedOutputTokens: number;
}

export interface BranchOracleParts {
  /** The branch's own log. */
  readonly log: OracleStore;
  readonly clock: SimulatedClock;
  /** The record. Undefined: no question is answered from it. */
  readonly record: SimulationSource['oracleStore'] | undefined;
  /** The log of answers that samples share, and the name of the part that this sample uses. */
  readonly answers: OracleStore;
  readonly part: string;
  /** Gives a question the form in which the record has it. */
  readonly recordedForm: (asking: OracleCall) => OracleCall;
}

/** The kinds of questions about the branch itself. Only the branch can answer them. */
const OWN: ReadonlySet<string> = new Set(['ruling', 'calls', 'turn']);

/**
 * The oracle of one branch. An equal question, at the same place in its agent's order, has the
 * answer of the record. Any other question goes to the log that samples share, and from there to
 * the outside.
 */
export function branchOracle(parts: BranchOracleParts): {
  readonly oracle: Oracle;
  readonly asked: AskedQuestions;
} {
  const { log, clock, record, answers, part, recordedForm } = parts;
  const asked: AskedQuestions = {
    ...{ recorded: 0, repeated: 0, asked: 0 },
    ...{ inputTokens: 0, outputTokens: 0, askedInputTokens: 0, askedOutputTokens: 0 },
  };
  const own = createOracle({ store: log, clock, mode: 'record' });
  const shared = createOracle({ store: answers, clock, mode: 'record' });

  const answered = async (given: OracleCall): Promise<Json> => {
    const asking = recordedForm(given);
    const kind = kindOf(asking);
    const recorded = record === undefined ? undefined : await recordedAnswer(record, asking);
    if (kind === 'clock')
      return isInstant(recorded) && recorded >= clock.now() ? recorded : clock.now();
    if (recorded !== undefined) {
      if (kind !== 'random') asked.recorded++;
      return recorded;
    }
    if (kind === 'random') return asking.call();
    return askCounted(asked, shared, {
      ...asking,
      scope: { ...(asking.scope as CallScope), branch: part },
    });
  };

  const consult: Oracle['consult'] = async (asking) =>
    own.consult(isOwn(asking) ? asking : { ...asking, call: () => answered(asking) });
  const oracle = markOwnPackage({
    mode: 'record' as const,
    consult,
    ask: async (asking: OracleCall) => (await consult(asking)).value,
  });
  return { oracle: Object.freeze(oracle), asked };
}

/** Asks the shared log, or the outside, and counts the question with its tokens. */
async function askCounted(
  asked: AskedQuestions,
  shared: Oracle,
  asking: OracleCall,
): Promise<Json> {
  let isNew = false;
  const call = (): Json | Promise<Json> => {
    isNew = true;
    return asking.call();
  };
  const answer = await shared.ask({ ...asking, call });
  const { input, output } = usageIn(answer);
  asked.inputTokens += input;
  asked.outputTokens += output;
  if (isNew) {
    asked.asked++;
    asked.askedInputTokens += input;
    asked.askedOutputTokens += output;
  } else asked.repeated++;
  return answer;
}

function isOwn(asking: OracleCall): boolean {
  const { scope } = asking;
  return scope.kind !== 'call' || scope.agent === COORDINATOR || OWN.has(kindOf(asking) ?? '');
}

/** The kind of a question, in the form in which agents ask for time, chance and rulings. */
function kindOf({ request }: OracleCall): string | undefined {
  const asks = (Object(request) as { readonly ask?: unknown }).ask;
  return typeof asks === 'string' ? asks : undefined;
}

/** Undefined if the record has no answer, or an erased one. */
async function recordedAnswer(
  record: SimulationSource['oracleStore'],
  { scope, request, theta }: OracleCall,
): Promise<Json | undefined> {
  const key = oracleKey({ scope, request, ...(theta !== undefined && { theta }) });
  const row = await record.oracleGet(key);
  if (row === undefined || row.key !== key || row.erased_by !== undefined) return undefined;
  return parseCanonical(row.answer, ORACLE_LIMITS);
}

/** The tokens that the answer of a model names (`ChatAnswer.usage`). */
function usageIn(answer: Json): { readonly input: number; readonly output: number } {
  const { usage } = Object(answer) as { readonly usage?: unknown };
  const { input, output } = Object(usage) as {
    readonly input?: unknown;
    readonly output?: unknown;
  };
  return { input: tokens(input), output: tokens(output) };
}

function tokens(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}
