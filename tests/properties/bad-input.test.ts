/**
 * Bad input of every public function, class and method that the floors and the workspaces export: it answers, or throws an error
 * of the package whose code stands beside its class; it never throws anything else, never hangs, and where it threw, store,
 * head and state are as before. Code that the caller hands over (stores, callbacks, domains) is trusted, and what a getter of
 * the caller's throws is his own error and may come back to him. What else is not tried says why in its line.
 */
import { describe, expect, test } from 'vitest';
import { AUTHORITY } from '../support/bad-input/authority.ts';
import { BASE } from '../support/bad-input/base.ts';
import { CANON } from '../support/bad-input/canon.ts';
import { type Case, type Exempt, wrongsOf } from '../support/bad-input/case.ts';
import { documented } from '../support/bad-input/documented.ts';
import { EXTRACTION } from '../support/bad-input/extraction.ts';
import { KERNEL } from '../support/bad-input/kernel.ts';
import { LEDGER } from '../support/bad-input/ledger.ts';
import { MEMORY } from '../support/bad-input/memory.ts';
import { MEMORY_ALGEBRA } from '../support/bad-input/memory-algebra.ts';
import { MERKLE } from '../support/bad-input/merkle.ts';
import { ONTOLOGY } from '../support/bad-input/ontology.ts';
import { ORACLE } from '../support/bad-input/oracle.ts';
import { AGENTS, CEDAR, DOMAINS, TESTING, WITNESS } from '../support/bad-input/outer.ts';
import { RUNTIME } from '../support/bad-input/runtime.ts';
import { SCHEDULES } from '../support/bad-input/schedules.ts';
import { STORES } from '../support/bad-input/stores.ts';
import { publicNames } from '../support/bad-input/surface.ts';
import { TABLES as EXPERIMENT_TABLES } from '../support/bad-input/tables.ts';
import { TOOLS } from '../support/bad-input/tools.ts';

const TABLES: Readonly<Record<string, Readonly<Record<string, Case | Exempt>>>> = {
  base: BASE,
  canon: CANON,
  merkle: MERKLE,
  ledger: LEDGER,
  authority: AUTHORITY,
  kernel: KERNEL,
  oracle: ORACLE,
  memory: { ...MEMORY, ...MEMORY_ALGEBRA },
  runtime: RUNTIME,
  stores: STORES,
  agents: { ...AGENTS, ...EXTRACTION },
  witness: WITNESS,
  testing: TESTING,
  ontology: ONTOLOGY,
  tools: TOOLS,
  experiments: { ...EXPERIMENT_TABLES, ...SCHEDULES },
  integrations: CEDAR,
  domains: DOMAINS,
};

describe.each(Object.entries(TABLES))('%s', (floor, table) => {
  test('every public function and method has its line here', async () => {
    const names = await publicNames(floor);
    expect(names).not.toEqual([]);
    // A line may also be of what is reached only through a factory, or name another form of a call.
    expect(names.filter((name) => table[name] === undefined)).toEqual([]);
  });

  test.each(Object.entries(table).flatMap(([name, one]) => ('exempt' in one ? [] : [[name, one] as const])))(
    '%s returns, or throws an error of the package and changes nothing',
    async (name, one) => {
      expect(await wrongsOf(name, one, documented)).toEqual([]);
    },
  );
});
