import { arg, checkArgument, type Json } from 'assize/internal/base';
import { contentHash, hashText } from 'assize/internal/canon';
import type { Oracle } from 'assize/internal/oracle';
import { OntologyError } from '../errors.ts';
import type { Ontology } from '../ontology.ts';
import { fileName } from '../scaffold.ts';
import { testSource } from '../test-source.ts';
import { allowedSource, fragmentFile } from './allowed-source.ts';
import { typedFaults } from './allowed-types.ts';
import { type Answer, readAnswer } from './answer.ts';
import { type Assembled, assemble, type Fragment, fragmentsOf, literalSource } from './assemble.ts';
import { Compiler, type CompilerMessage } from './compiler.ts';
import { type DraftFinding, errorsIn, fewFindings } from './finding.ts';
import { type Derived, derive } from './holes.ts';
import { roundPrompt } from './prompt.ts';
import { requireShortReference } from './reference.ts';
import { runTrial, type TrialLimits } from './trial.ts';

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
  /** Seconds for the checks of one round, which run the model's code. Default: 120 */
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
 * @throws OntologyError `unsound`, `reference_too_long`, `bad_draft` for an answer that is no text;
 *   the OracleError of `consult`; the errors of the model and of `onRound`; ArgumentError
 *   `bad_argument`
 */
export async function draftModule(ontology: Ontology, options: ModuleDraftOptions): Promise<ModuleDraft> {
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

async function inRounds(derived: Derived, compiler: Compiler, options: ModuleDraftOptions): Promise<ModuleDraft> {
  const { rounds: roundsMax = DEFAULT_ROUNDS, timeLimitSeconds = DEFAULT_SECONDS } = options;
  const limits: TrialLimits = { timeMs: timeLimitSeconds * 1_000, memoryMb: MEMORY_MB };
  const rounds: DraftRound[] = [];
  let best: ModuleDraft['best'];
  let last: { readonly answer: string; readonly findings: readonly DraftFinding[] } | undefined;
  while (rounds.length < roundsMax) {
    const { text: answer, ...asked } = await ask(roundPrompt(derived, options.reference, last), options);
    const { made, findings } = await judged(answer, derived, compiler, limits);
    const round = { round: rounds.length + 1, ...asked, ...(made && { module: hashText(made.text) }), findings };
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
  throw new OntologyError('bad_draft', 'The model did not answer with text. Make it answer with JSON, as text.', {
    evidence: { answer: value },
  });
}

interface Judged {
  /** The module, if the answer made one whose source is allowed. */
  readonly made?: { readonly text: string; readonly tests: string };
  readonly findings: readonly DraftFinding[];
}

async function judged(text: string, derived: Derived, compiler: Compiler, limits: TrialLimits): Promise<Judged> {
  const answer = readAnswer(text, derived.holes);
  if ('check' in answer) return { findings: fewFindings([answer]) };
  const allowed = await allowedFragments(fragmentsOf(answer), compiler);
  if ('findings' in allowed) return { findings: fewFindings(allowed.findings) };
  const assembled = assemble(derived, answer, allowed.fragments);
  const made = { text: assembled.text, tests: testsOf(derived, answer) };
  const typed = await typeFindings(assembled, allowed.fragments, compiler);
  if (typed.length > 0) return { made, findings: fewFindings(typed) };
  return { made, findings: fewFindings(await runTrial(assembled, derived.ontology, answer, limits)) };
}

/** The fragments without the text around their expressions, or their faults. */
async function allowedFragments(
  fragments: readonly Fragment[],
  compiler: Compiler,
): Promise<{ readonly fragments: readonly Fragment[] } | { readonly findings: readonly DraftFinding[] }> {
  const files = new Map(fragments.map(({ source }, i) => [`fragment-${i}.ts`, fragmentFile(source)] as const));
  const { sources, syntax } = await compiler.compile(files);
  const read = fragments.map(({ where, source, sort }, i) => {
    const name = `fragment-${i}.ts`;
    const wrong = syntax.find(({ file }) => file === name)?.says;
    const file = sources.get(name);
    const allowed =
      wrong !== undefined || file === undefined ? { fault: wrong ?? 'it cannot be parsed' } : allowedSource(file, sort);
    return { where, sort, source, ...allowed };
  });
  const findings = read.flatMap((one): DraftFinding[] =>
    'fault' in one ? [{ check: 'source', severity: 'error', where: one.where, says: one.fault }] : [],
  );
  return findings.length > 0 ? { findings } : { fragments: read };
}

/** The messages of the compiler, or the faults of functions that only types tell. */
export async function typeFindings(
  { text, spans }: Assembled,
  fragments: readonly Fragment[],
  compiler: Compiler,
): Promise<DraftFinding[]> {
  const functions = new Set(fragments.filter(({ sort }) => sort === 'function').map(({ where }) => where));
  const ofFunctions = spans.filter(({ where }) => functions.has(where));
  const { syntax, types, inspected } = await compiler.compile(new Map([['module.ts', text]]), (_, source, checker) =>
    typedFaults(source, ofFunctions, checker),
  );
  const finding = (check: DraftFinding['check'], { from, says }: CompilerMessage): DraftFinding => {
    const where = spans.find((span) => span.from <= from && from < span.to)?.where ?? placeIn(text, from);
    return { check, severity: 'error', where, says: says.trim() };
  };
  return [
    ...[...syntax, ...types].map((one) => finding('types', one)),
    ...inspected.map((one) => finding('source', one)),
  ];
}

/** A message outside all fragments is about the initial state, or follows from a fragment. */
function placeIn(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at) + 1).split('\n')[0] ?? '';
  return line.trim().slice(0, 80);
}

function testsOf({ ontology, invariants }: Derived, { invariants: examples }: Answer): string {
  return testSource(ontology, invariants, `./${fileName(ontology)}.ts`, (id) => {
    const { blocks = [], passes = [] } = examples[id] ?? {};
    return { blocks: literalSource(blocks), passes: literalSource(passes) };
  });
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
