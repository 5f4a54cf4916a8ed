/**
 * The READMEs of packages whose example is a command, or needs a framework or PostgreSQL, run as
 * they stand.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasMastra, MASTRA_MODULES } from '../support/mastra/packages.ts';
import { expectShown, PROGRAMS, readmeOf } from '../support/package-readmes.ts';
import { withPostgres } from '../support/postgres/with-postgres.ts';
import { ServedGuide } from '../support/process/served-guide.ts';

/** The packages that the examples import, beside Assize. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'ai-sdk': ['ai', 'zod'],
  audit: [],
  cells: [],
  cli: [],
  command: ['commander'],
  'create-assize': [],
  gate: [],
  langchain: ['langchain', '@langchain', 'zod'],
  'openai-agents': ['@openai', 'zod'],
  opentelemetry: ['@opentelemetry'],
};

/** Packages with a test of their own below. */
const OTHERS = ['client', 'mastra', 'postgres', 'server'];

test('each package has a README with an example that runs', () => {
  const packages = readdirSync(join(import.meta.dirname, '../../packages'));
  expect([...Object.keys({ ...PROGRAMS, ...EXAMPLES }), ...OTHERS].sort()).toEqual(packages.sort());
});

test.each(Object.entries(EXAMPLES))(
  'the example of %s prints the output that its README shows',
  (name, packages) => {
    expectShown(name, { packages });
  },
);

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  test('the example of mastra prints the output that its README shows', () => {
    expectShown('mastra', {
      packages: ['zod'],
      apart: { '@mastra': join(MASTRA_MODULES, '@mastra') },
    });
  });
});

withPostgres('PostgreSQL', (postgres) => {
  test('the example of postgres prints the output that its README shows', () => {
    expectShown('postgres', { packages: ['zod'], env: { ASSIZE_STORE: postgres.url() } });
  });
});

test('the examples of server and client print what their READMEs show', async () => {
  const guide = await ServedGuide.begin();
  onTestFinished(async () => void (await guide.end()));
  for (const name of ['server', 'client']) await guide.follow(readmeOf(name), ['sh']);
  expect(guide.steps.length).toBeGreaterThan(0);
  for (const { command, printed, shown } of guide.steps) expect(printed, command).toBe(shown);
});
