import { readPaths, writePaths } from './footprints.ts';
import type { DerivedInvariant } from './invariants.ts';
import type { Component, Ontology, ProcessClass } from './ontology.ts';
import type { DerivedRole } from './roles.ts';
import { commentText, keySource, schemaSource, stateTree, textSource } from './state-tree.ts';

/** The parts of a module that no ontology says, as source. */
export interface ModuleParts {
  /** The second paragraph of the module's comment. */
  readonly note: string;
  /** The schema at a place of the state that the ontology leaves open. */
  readonly schemaAt: (place: string) => string;
  readonly initial: string;
  readonly actions: readonly ActionParts[];
  /** The function of an invariant, and the function that writes an approval of it. */
  readonly check: (id: string, verb: DerivedInvariant['onFailure']) => string;
  readonly onApprove: (id: string) => string;
  /** Names that the parts use other than `reject` and `escalate`. */
  readonly uses: readonly string[];
}

export interface ActionParts {
  readonly name: string;
  readonly process: string;
  readonly description: string;
  readonly args: string;
  readonly apply: string;
}

/** The text of a module that exports the domain. */
export function moduleSource(
  ontology: Ontology,
  roles: readonly DerivedRole[],
  invariants: readonly DerivedInvariant[],
  parts: ModuleParts,
): string {
  const tree = stateTree(ontology.components);
  const asked = invariants.some(({ onFailure }) => onFailure === 'escalate');
  const refused = invariants.some(({ onFailure }) => onFailure === 'reject');
  const verbs = [
    'defineDomain',
    ...(asked ? ['escalate'] : []),
    ...parts.uses,
    ...(refused ? ['reject'] : []),
  ];
  const counselors = [
    ...new Set(invariants.map(({ counselor }) => counselor).filter((kind) => kind !== '')),
  ];
  const schema = schemaSource(tree, parts.schemaAt);
  const open = schema.includes('unwritten') ? OPEN : '';
  return `/**
 * ${commentText(ontology.title || ontology.domain)}. ${commentText(ontology.description)}
 *
 * ${parts.note}
 */
${importSource(verbs, 'assize')}
${importSource(['z'], 'zod')}
${open}
const state = ${schema};

export const ${exportName(ontology.domain)} = defineDomain({
  name: ${textSource(ontology.domain)},
  version: '1',
  state,
  initial: ${parts.initial},
  processes: {
${ontology.processes.map((one) => processSource(one, ontology)).join('\n')}
  },
  roles: {
${roles.map(roleSource).join('\n')}
  },
  actions: {
${parts.actions.map(actionSource).join('\n')}
  },${counselors.length === 0 ? '' : `\n  counselors: {\n${counselors.map(counselorSource).join('\n')}\n  },`}
  invariants: ({ invariant }) => [
${invariants.map((one) => invariantSource(one, parts)).join('\n')}
  ],
});
`;
}

const OPEN = `
/** Anything, until it is said what stands there. */
const unwritten = z.unknown();
`;

/** The name that the module exports the domain under. */
export function exportName(domain: string): string {
  const name = domain.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) =>
    (next ?? '').toUpperCase(),
  );
  return /^[A-Za-z]/.test(name) && !RESERVED.has(name) ? name : `domain${name}`;
}

const RESERVED: ReadonlySet<string> = new Set([
  ...'break case catch class const continue debugger default delete do else enum export extends false finally for'.split(
    ' ',
  ),
  ...'function if import in instanceof new null return super switch this throw true try typeof var void while with'.split(
    ' ',
  ),
  ...'await async let static yield implements interface package private protected public'.split(
    ' ',
  ),
  ...'eval arguments z defineDomain pass reject escalate state unwritten'.split(' '),
  ...'describe expect test said detectionVector id blocks passes'.split(' '),
]);

export function importSource(names: readonly string[], from: string): string {
  return `import { ${names.join(', ')} } from ${textSource(from)};`;
}

function processSource(
  { process, definition, reads, writes }: ProcessClass,
  { components }: Ontology,
): string {
  const of = (terms: readonly string[]): Component[] =>
    components.filter(({ term }) => terms.includes(term));
  const listed = (name: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`${name}: [${paths.map(textSource).join(', ')}]`];
  const parts = [
    ...listed('reads', readPaths(of(reads))),
    ...listed('writes', writePaths(of(writes))),
  ];
  return `    // ${commentText(definition)}\n    ${keySource(process)}: { ${parts.join(', ')} },`;
}

function roleSource({ name, params, processes }: DerivedRole): string {
  const confined = params.length === 0 ? '' : `params: [${params.map(textSource).join(', ')}], `;
  return `    ${keySource(name)}: { ${confined}processes: [${processes.map(textSource).join(', ')}] },`;
}

function actionSource({ name, process, description, args, apply }: ActionParts): string {
  return `    ${keySource(name)}: {
      process: ${textSource(process)},
      description: ${textSource(description)},
      args: ${args},
      apply: ${apply},
    },`;
}

function counselorSource(kind: string): string {
  return `    ${keySource(kind)}: (principal) => principal.startsWith(${textSource(`${kind}:`)}),`;
}

function invariantSource(
  { id, definition, source, reads, onFailure, counselor }: DerivedInvariant,
  { check, onApprove }: ModuleParts,
): string {
  const paths = `[${reads.map(textSource).join(', ')}]`;
  const says = `    // ${commentText(definition)}${source === '' ? '' : ` (${commentText(source)})`}\n`;
  if (onFailure === 'reject')
    return `${says}    invariant(${textSource(id)}, ${paths}, ${check(id, onFailure)}),`;
  return `${says}    invariant(${textSource(id)}, ${paths}, ${check(id, onFailure)}, {
      channel: ${textSource(counselor)},
      onApprove: ${onApprove(id)},
    }),`;
}
