import { Footprints, readPaths, writePaths } from './footprints.ts';
import { type DerivedInvariant, invariantsOf } from './invariants.ts';
import type { Component, Ontology, ProcessClass } from './ontology.ts';
import { type DerivedRole, deriveRoles, type RoleOptions } from './roles.ts';
import { commentText, emptySource, keySource, schemaSource, stateTree, textSource } from './state-tree.ts';

/** Files by name, in the order in which to read them. */
export type Scaffold = ReadonlyMap<string, string>;

/**
 * A domain to fill in. `index.ts` compiles under strict options. It has the state that the
 * components' paths describe, the processes, and the derived roles. It also has an action for each
 * process, and each invariant with its footprint. Actions throw and invariants refuse until they
 * are written. `NAME.test.ts` fails until each invariant is written and shown. `README.md` has the
 * rules of the domain.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function scaffold(ontology: Ontology, options: RoleOptions = {}): Scaffold {
  const derived = deriveRoles(ontology, options);
  const invariants = invariantsOf(ontology, derived);
  return new Map([
    ['index.ts', moduleSource(ontology, derived.roles, invariants)],
    [`${ontology.domain.replace(/[^A-Za-z0-9_-]/g, '-')}.test.ts`, testSource(ontology, invariants)],
    ['README.md', readme(ontology, derived.roles, invariants)],
  ]);
}

/** The name that the module exports the domain under. */
export function exportName(domain: string): string {
  const name = domain.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? '').toUpperCase());
  return /^[A-Za-z]/.test(name) && !RESERVED.has(name) ? name : `domain${name}`;
}

const RESERVED: ReadonlySet<string> = new Set([
  ...'break case catch class const continue debugger default delete do else enum export extends false finally for'.split(
    ' ',
  ),
  ...'function if import in instanceof new null return super switch this throw true try typeof var void while with'.split(
    ' ',
  ),
  ...'await async let static yield implements interface package private protected public'.split(' '),
  ...'eval arguments z defineDomain reject escalate state unwritten'.split(' '),
  ...'describe expect test said detectionVector id blocks passes'.split(' '),
]);

function moduleSource(
  ontology: Ontology,
  roles: readonly DerivedRole[],
  invariants: readonly DerivedInvariant[],
): string {
  const tree = stateTree(ontology.components);
  const asked = invariants.some(({ onFailure }) => onFailure === 'escalate');
  const refused = invariants.some(({ onFailure }) => onFailure === 'reject');
  const verbs = ['defineDomain', ...(asked ? ['escalate'] : []), ...(refused ? ['reject'] : [])];
  const counselors = [...new Set(invariants.map(({ counselor }) => counselor).filter((kind) => kind !== ''))];
  return `/**
 * ${commentText(ontology.title || ontology.domain)}. ${commentText(ontology.description)}
 *
 * Made from the ontology. Say what stands in the state where it says \`unwritten\`, write the actions and the invariants.
 */
${importSource(verbs, 'assize')}
${importSource(['z'], 'zod')}

/** Anything, until it is said what stands there. */
const unwritten = z.unknown();

const state = ${schemaSource(tree)};

export const ${exportName(ontology.domain)} = defineDomain({
  name: ${textSource(ontology.domain)},
  version: '1',
  state,
  initial: ${emptySource(tree)},
  processes: {
${ontology.processes.map((one) => processSource(one, ontology)).join('\n')}
  },
  roles: {
${roles.map(roleSource).join('\n')}
  },
  actions: {
${ontology.processes.map(actionSource).join('\n')}
  },${counselors.length === 0 ? '' : `\n  counselors: {\n${counselors.map(counselorSource).join('\n')}\n  },`}
  invariants: ({ invariant }) => [
${invariants.map(invariantSource).join('\n')}
  ],
});
`;
}

function importSource(names: readonly string[], from: string): string {
  return `import { ${names.join(', ')} } from ${textSource(from)};`;
}

function processSource({ process, definition, reads, writes }: ProcessClass, { components }: Ontology): string {
  const of = (terms: readonly string[]): Component[] => components.filter(({ term }) => terms.includes(term));
  const listed = (name: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`${name}: [${paths.map(textSource).join(', ')}]`];
  const parts = [...listed('reads', readPaths(of(reads))), ...listed('writes', writePaths(of(writes)))];
  return `    // ${commentText(definition)}\n    ${keySource(process)}: { ${parts.join(', ')} },`;
}

function roleSource({ name, params, processes }: DerivedRole): string {
  const confined = params.length === 0 ? '' : `params: [${params.map(textSource).join(', ')}], `;
  return `    ${keySource(name)}: { ${confined}processes: [${processes.map(textSource).join(', ')}] },`;
}

function actionSource({ process, definition }: ProcessClass): string {
  return `    ${keySource(process)}: {
      process: ${textSource(process)},
      description: ${textSource(definition)},
      args: z.object({}),
      apply: () => {
        throw new Error(${textSource(`${process} is not written yet`)});
      },
    },`;
}

function counselorSource(kind: string): string {
  return `    ${keySource(kind)}: (principal) => principal.startsWith(${textSource(`${kind}:`)}),`;
}

function invariantSource({ id, definition, source, reads, onFailure, counselor }: DerivedInvariant): string {
  const paths = `[${reads.map(textSource).join(', ')}]`;
  const says = `    // ${commentText(definition)}${source === '' ? '' : ` (${commentText(source)})`}\n`;
  if (onFailure === 'reject')
    return `${says}    invariant(${textSource(id)}, ${paths}, () => reject('not written yet')),`;
  return `${says}    invariant(${textSource(id)}, ${paths}, () => escalate('not written yet'), {
      channel: ${textSource(counselor)},
      onApprove: () => {
        throw new Error(${textSource(`what an approval of ${id} writes is not written yet`)});
      },
    }),`;
}

function testSource({ domain }: Ontology, invariants: readonly DerivedInvariant[]): string {
  const name = exportName(domain);
  return `${importSource(['type Domain'], 'assize')}
${importSource(['detectionVector'], 'assize/testing')}
${importSource(['describe', 'expect', 'test'], 'vitest')}
${importSource([name], './index.ts')}

/** States that each invariant must not let pass, and states that it must: until there are both, its test fails. */
const CASES: Readonly<Record<string, { readonly blocks: readonly object[]; readonly passes: readonly object[] }>> = {
${invariants.map(({ id, definition }) => `  // ${commentText(definition)}\n  ${keySource(id)}: { blocks: [], passes: [] },`).join('\n')}
};

/** The result of one invariant on a state. */
function said(id: string, state: object): string | undefined {
  return detectionVector(${name} as Domain, state as never).find(({ invariant_id }) => invariant_id === id)?.result;
}

describe.each(Object.entries(CASES))('%s', (id, { blocks, passes }) => {
  test('blocks what it should, and lets pass what it should', () => {
    expect(blocks.length, 'give a state that it blocks').toBeGreaterThan(0);
    expect(passes.length, 'give a state that it lets pass').toBeGreaterThan(0);
    for (const state of [...blocks, ...passes]) expect(${name}.state.safeParse(state)).toMatchObject({ success: true });
    for (const state of blocks) expect(said(id, state), JSON.stringify(state)).not.toBe('pass');
    for (const state of passes) expect(said(id, state), JSON.stringify(state)).toBe('pass');
  });
});

test('each invariant of the domain has its cases, in order', () => {
  expect(Object.keys(CASES)).toEqual(${name}.rules.map(({ id }) => id));
});
`;
}

function readme(ontology: Ontology, roles: readonly DerivedRole[], invariants: readonly DerivedInvariant[]): string {
  const footprints = new Footprints(ontology);
  const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');
  return `# ${ontology.title || ontology.domain}

${ontology.description}

## State

| place | what stands there |
|---|---|
${ontology.components
  .map(
    ({ term, definition }) =>
      `| ${footprints
        .pathsOf([term])
        .map((path) => `\`${path}\``)
        .join(', ')} | ${cell(definition)} |`,
  )
  .join('\n')}

## Who does what

| role | for each | processes | sees |
|---|---|---|---|
${roles.map(({ name, params, processes, sees }) => `| \`${name}\` | ${params.join(', ') || 'all'} | ${processes.join(', ')} | ${sees.map((path) => `\`${path}\``).join(', ')} |`).join('\n')}

## What is enforced, in this order

| invariant | says | source |
|---|---|---|
${invariants.map(({ id, definition, source }) => `| \`${id}\` | ${cell(definition)} | ${cell(source)} |`).join('\n')}
`;
}
