/** The versions of frameworks with which the integrations are tested. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
  readonly peerDependencies?: Versions;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

/** The packages of each guide's framework. */
export const FRAMEWORKS: Readonly<Record<string, readonly string[]>> = {
  langchain: ['langchain', '@langchain/core', '@langchain/langgraph'],
  'ai-sdk': ['ai'],
  'openai-agents': ['@openai/agents'],
  mastra: ['@mastra/core', '@mastra/libsql'],
  monitoring: [
    '@opentelemetry/api',
    '@opentelemetry/sdk-trace-base',
    '@opentelemetry/context-async-hooks',
  ],
};

/** Where `npm ci --prefix peers/oldest` installs the oldest versions. */
export const OLDEST_MODULES: string = join(root, 'peers/oldest/node_modules');

export const hasOldest: boolean = existsSync(OLDEST_MODULES);

/** The versions that the tests of integrations use, and the range that the package declares. */
export interface Tested {
  readonly oldest: string | undefined;
  readonly newest: string | undefined;
  /** Absent for packages that only the guide's program imports. */
  readonly range: string | undefined;
}

export function testedVersions(name: string): Tested {
  const { devDependencies } = manifestIn('.');
  const ranges = globSync('packages/*', { cwd: root }).map(
    (folder) => manifestIn(folder).peerDependencies?.[name],
  );
  return {
    oldest: manifestIn('peers/oldest').dependencies[name],
    newest: devDependencies[name] ?? manifestIn('peers').devDependencies[name],
    range: ranges.find((range) => range !== undefined),
  };
}
