import type { DerivedInvariant } from './invariants.ts';
import { exportName, importSource } from './module-source.ts';
import type { Ontology } from './ontology.ts';
import { commentText, keySource } from './state-tree.ts';

/** The states of an invariant's cases, as source. */
export interface CaseParts {
  readonly blocks: string;
  readonly passes: string;
}

/** The text of a test that shows each invariant of the module at `file`. */
export function testSource(
  { domain }: Ontology,
  invariants: readonly DerivedInvariant[],
  file = './index.ts',
  cases: (id: string) => CaseParts = () => ({ blocks: '[]', passes: '[]' }),
): string {
  const name = exportName(domain);
  return `${importSource(['type Domain'], 'assize')}
${importSource(['detectionVector'], '@assize/testing')}
${importSource(['describe', 'expect', 'test'], 'vitest')}
${importSource([name], file)}

/** States that each invariant must not let pass, and states that it must: until there are both, its test fails. */
const CASES: Readonly<Record<string, { readonly blocks: readonly object[]; readonly passes: readonly object[] }>> = {
${invariants.map(({ id, definition }) => `  // ${commentText(definition)}\n  ${keySource(id)}: { blocks: ${cases(id).blocks}, passes: ${cases(id).passes} },`).join('\n')}
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
