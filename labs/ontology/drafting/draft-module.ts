import { arg, checkArgument, type Json } from 'assize/internal/base';
import { contentHash, hashText } from 'assize/internal/canon';
import type { Oracle } from 'assize/internal/oracle';
import { OntologyError } from '../errors.ts';
import type { Ontology } from '../ontology.ts';
import { Compiler } from './compiler.ts';
import { type DraftFinding, errorsIn } from './finding.ts';
import { type Derived, derive } from './holes.ts';
import { judgeAnswer } from './judge-answer.ts';
import { roundPrompt } from './prompt.ts';
import { requireShortReference } from './reference.ts';
import type { TrialLimits } from './trial.ts';

export interface ModuleDraftOptions {
  /**
   * The log of the model's answers. A recorded request is not sent again, and a replay never calls
   * the model.
   */
  readonly oracle: Oracle;
  /** Any model: a function from the request to the answer, as text. */
  readonly model: (request: string) => string | Promise<string>;
  /** The version of the model. Another version is another question. */
  readonly modelVersion?: string;
  /** Maximum number of questions, 1 to 20. Default: 5 */
  readonly rounds?: number;
  /** A text that the model reads before the ontology, such as the text of BFO 2.0. */
  readonly reference?: string;
  /** Seconds for the checks of one round. They run the model's code. Default: 120 */
  readonly timeLimitSeconds?: number;
  /** Called after each round, and awaited. */
  readonly onRound?: (round: DraftRound) => void | Promise<void>;
}

/** One question to the model, with the findings on its answer. */
export interface DraftRound {
  /** From 1. */
  readonly round: number;
  /** The key of the question in the oracle log, and the hash of its answer: 64 hex digits each. */
  readonly question: string;
  readonly answer: string;
  /** The hash of the module. Absent if the answer made none. */
  readonly module?: string;
  readonly findings: readonly DraftFinding[];
}

/** A drafted module. Nothing accepts it but a person. */
export interface ModuleDraft {
  /** The scaffold that the draft completes. */
  readonly scaffold: string;
  /** The round with the fewest errors, with its texts. Undefined if no answer made a module. */
  readonly best?: DraftRound & { readonly text: string; readonly tests: string };
  readonly rounds: readonly DraftRound[];
  /** Whether the best round has no error. */
  readonly ok: boolean;
}

const ROUNDS_MAX = 20;
const DEFAULT_ROUNDS = 5;
const DEFAULT_SECONDS = 120;
const MEMORY_MB = 1_024;
/** The separate space of the oracle keys of drafted modules. */
const SPACE = 'assize.ontology.module';

const OPTIONS = arg.members({
  oracle: arg.members({ consult: arg.code }),
  model: arg.code,
  modelVersion: arg.optional(arg.text),
  rounds: arg.optional(arg.wholeFrom(1, ROUNDS_MAX)),
  reference: arg.optional(arg.text),
  timeLimitSeconds: arg.optional(arg.wholeFrom(1, 3_600)),
  onRound: arg.optional(arg.code),
});

/**
 * A domain module whose schemas, actions and invariants a model writes (Agentic Redux §1.4.3, step
 * 3). The model answers with fragments for the holes of the scaffold. Each round is checked: the
 * form of the answer, the allowed source, the types, and in a process with limits the definition,
 * the ontology, the examples, `checkDomain`, a walk of the life cycle and the fingerprint. The
 * findings go to the model as data in the next round. The draft ends when no error is left, or
 * after the rounds.
 *
 * @throws OntologyError `unsound`, `reference_too_long`, `bad_draft` for an answer without text;
 *   the OracleError of `consult`; the errors of the model and of `onRound`; ArgumentError
 *   `bad_argument`
 */
export async function draftModule(
  ontology: Ontology,
  options: ModuleDraftOptions,
): Promise<ModuleDraft> {
  checkArgument(OPTIONS, options, 'options');
  requireShortReference(options.reference);
  const derived = derive(ontology);
  const compiler = new Compiler();
  try {
    return await inRounds(derived, compiler, options);
  } finally {
    await compiler.close();
  }
}

async function inRounds(
  derived: Derived,
  compiler: Compiler,
  options: ModuleDraftOptions,
): Promise<ModuleDraft> {
  const { rounds: roundsMax = DEFAULT_ROUNDS, timeLimitSeconds = DEFAULT_SECONDS } = options;
  const limits: TrialLimits = { timeMs: timeLimitSeconds * 1_000, memoryMb: MEMORY_MB };
  const rounds: DraftRound[] = [];
  let best: ModuleDraft['best'];
  let last: { readonly answer: string; readonly findings: readonly DraftFinding[] } | undefined;
  while (rounds.length < roundsMax) {
    const { text: answer, ...asked } = await ask(
      roundPrompt(derived, options.reference, last),
      options,
    );
    const { made, findings } = await judgeAnswer(answer, derived, compiler, limits);
    const round = {
      round: rounds.length + 1,
      ...asked,
      ...(made && { module: hashText(made.text) }),
      findings,
    };
    rounds.push(round);
    await options.onRound?.(round);
    if (made !== undefined && (best === undefined || errorsIn(findings) <= errorsIn(best.findings)))
      best = { ...round, ...made };
    if (errorsIn(findings) === 0) break;
    last = { answer, findings };
  }
  const ok = best !== undefined && errorsIn(best.findings) === 0;
  return { scaffold: derived.scaffold, ...(best && { best }), rounds, ok };
}

async function ask(
  request: string,
  { oracle, model, modelVersion }: ModuleDraftOptions,
): Promise<{ readonly text: string; readonly question: string; readonly answer: string }> {
  const { value, oracle_key, hash } = await oracle.consult({
    scope: { kind: 'memory', space: SPACE },
    request: { task: 'module', text: request },
    theta: modelVersion === undefined ? {} : { model_version: modelVersion },
    call: () => model(request),
  });
  if (typeof value === 'string') return { text: value, question: oracle_key, answer: hash };
  throw new OntologyError(
    'bad_draft',
    'The model did not answer with text. Make it answer with JSON, as text.',
    {
      evidence: { answer: value },
    },
  );
}

/** The identity of a draft: the same question to the same model is the same draft. */
export function draftId(
  ontology: Ontology,
  scaffold: string,
  { modelVersion = '', reference = '', rounds = DEFAULT_ROUNDS }: Partial<ModuleDraftOptions>,
): string {
  const about = { ontology, scaffold, model: modelVersion, reference, rounds } as unknown as Json;
  return contentHash(JSON.parse(JSON.stringify(about)) as Json).slice(0, 16);
}
