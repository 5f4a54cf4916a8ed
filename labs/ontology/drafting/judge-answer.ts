import { fileName } from '../scaffold.ts';
import { testSource } from '../test-source.ts';
import { allowedSource, fragmentFile } from './allowed-source.ts';
import { typedFaults } from './allowed-types.ts';
import { type Answer, readAnswer } from './answer.ts';
import { type Assembled, assemble, type Fragment, fragmentsOf, literalSource } from './assemble.ts';
import type { Compiler, CompilerMessage } from './compiler.ts';
import { type DraftFinding, fewFindings } from './finding.ts';
import type { Derived } from './holes.ts';
import { runTrial, type TrialLimits } from './trial.ts';

/** The findings on one answer of the model. */
export interface JudgedAnswer {
  /** The module, if the answer made one whose source is allowed. */
  readonly made?: { readonly text: string; readonly tests: string };
  readonly findings: readonly DraftFinding[];
}

/**
 * Checks an answer in the order of `CHECKS`: its form, the allowed source, the types, and the
 * checks of a trial. A check runs only if the ones before it found no error.
 */
export async function judgeAnswer(
  text: string,
  derived: Derived,
  compiler: Compiler,
  limits: TrialLimits,
): Promise<JudgedAnswer> {
  const answer = readAnswer(text, derived.holes);
  if ('check' in answer) return { findings: fewFindings([answer]) };
  const allowed = await allowedFragments(fragmentsOf(answer), compiler);
  if ('findings' in allowed) return { findings: fewFindings(allowed.findings) };
  const assembled = assemble(derived, answer, allowed.fragments);
  const made = { text: assembled.text, tests: testsOf(derived, answer) };
  const typed = await typeFindings(assembled, allowed.fragments, compiler);
  if (typed.length > 0) return { made, findings: fewFindings(typed) };
  return {
    made,
    findings: fewFindings(await runTrial(assembled, derived.ontology, answer, limits)),
  };
}

/** The fragments without the text around their expressions, or their faults. */
async function allowedFragments(
  fragments: readonly Fragment[],
  compiler: Compiler,
): Promise<
  { readonly fragments: readonly Fragment[] } | { readonly findings: readonly DraftFinding[] }
> {
  const files = new Map(
    fragments.map(({ source }, i) => [`fragment-${i}.ts`, fragmentFile(source)] as const),
  );
  const { sources, syntax } = await compiler.compile(files);
  const read = fragments.map(({ where, source, sort }, i) => {
    const name = `fragment-${i}.ts`;
    const wrong = syntax.find(({ file }) => file === name)?.says;
    const file = sources.get(name);
    const allowed =
      wrong !== undefined || file === undefined
        ? { fault: wrong ?? 'it cannot be parsed' }
        : allowedSource(file, sort);
    return { where, sort, source, ...allowed };
  });
  const findings = read.flatMap((one): DraftFinding[] =>
    'fault' in one
      ? [{ check: 'source', severity: 'error', where: one.where, says: one.fault }]
      : [],
  );
  return findings.length > 0 ? { findings } : { fragments: read };
}

/** The messages of the compiler, or the faults of functions that only types tell. */
async function typeFindings(
  { text, spans }: Assembled,
  fragments: readonly Fragment[],
  compiler: Compiler,
): Promise<DraftFinding[]> {
  const functions = new Set(
    fragments.filter(({ sort }) => sort === 'function').map(({ where }) => where),
  );
  const ofFunctions = spans.filter(({ where }) => functions.has(where));
  const { syntax, types, inspected } = await compiler.compile(
    new Map([['module.ts', text]]),
    (_, source, checker) => typedFaults(source, ofFunctions, checker),
  );
  const finding = (check: DraftFinding['check'], { from, says }: CompilerMessage): DraftFinding => {
    const where =
      spans.find((span) => span.from <= from && from < span.to)?.where ?? placeIn(text, from);
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
