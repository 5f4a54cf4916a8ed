/** The guides of tool calls, run as they stand: from the rules to a held call that is made once. */
import { expect, test } from 'vitest';
import { runGuide } from '../../../tests/support/run-guide.ts';

/** The packages that the programs of each guide import, beside Assize. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  gate: [],
  'standing-approvals': [],
  langchain: ['langchain', '@langchain', 'zod'],
  'ai-sdk': ['ai', 'zod'],
  'openai-agents': ['@openai', 'zod'],
  monitoring: ['@opentelemetry'],
};

test.each(Object.entries(GUIDES))(
  '%s.md holds a call for a person, and prints what it shows',
  (name, packages) => {
    const { commands, printed, shown } = runGuide(`${name}.md`, { packages, timeoutMs: 300_000 });
    expect(commands.length).toBeGreaterThan(3);
    expect(printed).toEqual(shown);
  },
);
