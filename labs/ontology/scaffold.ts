import { Footprints } from './footprints.ts';
import { type DerivedInvariant, invariantsOf } from './invariants.ts';
import { type ModuleParts, moduleSource } from './module-source.ts';
import type { Ontology } from './ontology.ts';
import { type DerivedRole, deriveRoles, type RoleOptions } from './roles.ts';
import { emptySource, stateTree, textSource } from './state-tree.ts';
import { testSource } from './test-source.ts';

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
    ['index.ts', moduleSource(ontology, derived.roles, invariants, unwrittenParts(ontology))],
    [`${fileName(ontology)}.test.ts`, testSource(ontology, invariants)],
    ['README.md', readme(ontology, derived.roles, invariants)],
  ]);
}

/** The domain's name as that of a file. */
export function fileName({ domain }: Ontology): string {
  return domain.replace(/[^A-Za-z0-9_-]/g, '-');
}

/** The parts of a module in which nothing is written. */
export function unwrittenParts({ components, processes }: Ontology): ModuleParts {
  const throwing = (text: string, indent: string): string =>
    `() => {\n${indent}  throw new Error(${textSource(text)});\n${indent}}`;
  return {
    note: 'Made from the ontology. Say what stands in the state where it says `unwritten`, write the actions and the invariants.',
    schemaAt: () => 'unwritten',
    initial: emptySource(stateTree(components)),
    actions: processes.map(({ process, definition }) => ({
      ...{ name: process, process, description: definition, args: 'z.object({})' },
      apply: throwing(`${process} is not written yet`, '      '),
    })),
    check: (_id, verb) => `() => ${verb}('not written yet')`,
    onApprove: (id) => throwing(`what an approval of ${id} writes is not written yet`, '      '),
    uses: [],
  };
}

function readme(
  ontology: Ontology,
  roles: readonly DerivedRole[],
  invariants: readonly DerivedInvariant[],
): string {
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
