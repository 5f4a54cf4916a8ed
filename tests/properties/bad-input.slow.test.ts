/**
 * Bad input to every function, class and method that an entry of a package or of a workspace
 * exports. A call returns, or throws an error of the package with a code that is documented next to
 * its class. A call never throws another error and never hangs. A call that throws leaves store,
 * head and state unchanged. The caller's code (stores, callbacks, domains) is trusted. An error
 * from a caller's getter is the caller's own error and may come back to the caller. Every other
 * exemption gives its reason in its line.
 */
import { describe, expect, test } from 'vitest';
import { someOf } from '../support/some-of.ts';
import { AI_SDK } from './bad-input/ai-sdk.ts';
import { ARCHITECTURES } from './bad-input/architectures.ts';
import { AUTHORITY } from './bad-input/authority.ts';
import { BASE } from './bad-input/base.ts';
import { CANON } from './bad-input/canon.ts';
import { type Case, type Exempt, wrongsOf } from './bad-input/case.ts';
import { CHAT } from './bad-input/chat.ts';
import { COMPLIANCE } from './bad-input/compliance.ts';
import { CONFORMANCE } from './bad-input/conformance.ts';
import { documented } from './bad-input/documented.ts';
import { ENGINES } from './bad-input/engines.ts';
import { EXTRACTION } from './bad-input/extraction.ts';
import { INCIDENT_CALLS } from './bad-input/incidents.ts';
import { KERNEL } from './bad-input/kernel.ts';
import { LANGCHAIN } from './bad-input/langchain.ts';
import { LEDGER } from './bad-input/ledger.ts';
import { MASTRA } from './bad-input/mastra.ts';
import { MEMORY_ALGEBRA } from './bad-input/memory-algebra.ts';
import { MERKLE } from './bad-input/merkle.ts';
import { BACKTEST_RULES, MINING } from './bad-input/mining.ts';
import { MODELS } from './bad-input/models.ts';
import { ONTOLOGY } from './bad-input/ontology.ts';
import { OPENAI_AGENTS } from './bad-input/openai-agents.ts';
import { ORACLE } from './bad-input/oracle.ts';
import { OTEL } from './bad-input/otel.ts';
import { AGENTS, CEDAR, DOMAINS, TESTING, WITNESS } from './bad-input/outer.ts';
import { RUNS } from './bad-input/runs.ts';
import { AUDIT, RUNTIME } from './bad-input/runtime.ts';
import { SCHEDULES } from './bad-input/schedules.ts';
import { STORES } from './bad-input/stores.ts';
import { publicNames } from './bad-input/surface.ts';
import { TABLES as EXPERIMENT_TABLES } from './bad-input/tables.ts';
import { TOOL_CALLS } from './bad-input/tool-calls.ts';
import { TOOLS } from './bad-input/tools.ts';

const TABLES: Readonly<Record<string, Readonly<Record<string, Case | Exempt>>>> = {
  base: BASE,
  canon: CANON,
  ledger: { ...LEDGER, ...MERKLE },
  authority: AUTHORITY,
  kernel: KERNEL,
  oracle: ORACLE,
  memory: MEMORY_ALGEBRA,
  runtime: RUNTIME,
  audit: { ...AUDIT, ...WITNESS, backtestRules: BACKTEST_RULES },
  stores: STORES,
  agents: { ...AGENTS, ...EXTRACTION, ...RUNS },
  chat: CHAT,
  mining: MINING,
  architectures: ARCHITECTURES,
  models: MODELS,
  testing: TESTING,
  ontology: ONTOLOGY,
  tools: TOOLS,
  experiments: { ...EXPERIMENT_TABLES, ...SCHEDULES },
  compliance: COMPLIANCE,
  incidents: INCIDENT_CALLS,
  conformance: CONFORMANCE,
  integrations: {
    ...AI_SDK,
    ...CEDAR,
    ...ENGINES,
    ...LANGCHAIN,
    ...MASTRA,
    ...OPENAI_AGENTS,
    ...OTEL,
    ...TOOL_CALLS,
  },
  domains: DOMAINS,
};

describe.each(Object.entries(TABLES))('%s', (floor, table) => {
  test('every public function and method has its line here', async () => {
    const names = await publicNames(floor);
    expect(names).not.toEqual([]);
    // A table may also have lines for methods behind a factory, for another form of a call, and for
    // readers of texts from outside that no entry names.
    expect(names.filter((name) => table[name] === undefined)).toEqual([]);
  });

  test.each(
    someOf(
      Object.entries(table).flatMap(([name, one]) =>
        'exempt' in one ? [] : [[name, one] as const],
      ),
    ),
  )('%s returns, or throws an error of the package and changes nothing', async (name, one) => {
    expect(await wrongsOf(name, one, documented)).toEqual([]);
  });
});
