import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstRules } from '../../src/commands/init/server-files.ts';

/** The kinds of things that a call can reach. */
export type Kind =
  | 'git'
  | 'later'
  | 'migrations'
  | 'network'
  | 'outside'
  | 'push'
  | 'ran'
  | 'secret';

export const KINDS: readonly Kind[] = [
  ...(['git', 'later', 'migrations', 'network', 'outside', 'push', 'ran', 'secret'] as const),
];

/** Rules with what they deny or ask about. PROJECT and HOME in the text stand for folders. */
export interface RuleSet {
  readonly name: string;
  readonly text: string;
  readonly stops: readonly Kind[];
}

const read = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'rules', name), 'utf8');

export const RULE_SETS: readonly RuleSet[] = [
  { name: 'company', text: read('company.yaml'), stops: KINDS },
  {
    name: 'first',
    text: firstRules('PROJECT', { home: 'HOME' }),
    stops: KINDS.filter((kind) => kind !== 'migrations'),
  },
  { name: 'loose', text: read('loose.yaml'), stops: ['migrations', 'push', 'secret'] },
];

const COMMANDS_RUN = `  - { id: sandboxed, allow: 'shell/*', where: [{ path: /sandboxed, exists: true, is: true }] }
`;

/** The sets of those whose commands run in the sandbox of their rules. */
export const SANDBOXED_SETS: readonly RuleSet[] = [
  { name: 'company', text: `${read('company.yaml')}${COMMANDS_RUN}`, stops: KINDS },
  {
    name: 'first',
    text: firstRules('PROJECT', { home: 'HOME', hasSandbox: true }),
    stops: KINDS.filter((kind) => kind !== 'migrations'),
  },
];

/** The hosts that a text of rules allows. */
export function hostsOf({ text }: RuleSet): readonly string[] {
  return /host: \[?([^\]}]*)/.exec(text)?.[1]?.split(/[, ]+/) ?? [];
}
