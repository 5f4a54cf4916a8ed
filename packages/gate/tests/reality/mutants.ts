import { realpathSync } from 'node:fs';
import type { CallPart } from '../../src/calls/index.ts';

/**
 * Rules and readers of calls with one fault each. With any of them, ways round must be let through
 * that reach what the sound rules stop.
 */
export interface Mutant {
  readonly fault: string;
  /** A text of the rules, present once, and its replacement. */
  readonly rules?: readonly [from: string, to: string];
  /** The parts of a call as a faulty reader passes them on. */
  readonly parts?: (parts: readonly CallPart[]) => readonly CallPart[];
}

const without =
  (...tools: readonly string[]) =>
  (parts: readonly CallPart[]): readonly CallPart[] =>
    parts.filter(({ server, tool }) => !tools.includes(`${server}/${tool}`));

const withArgs =
  (change: (args: CallPart['args']) => object) =>
  (parts: readonly CallPart[]): readonly CallPart[] =>
    parts.map((part) => ({ ...part, args: change(part.args) as CallPart['args'] }));

/** Whether the name leads to a file by a symbolic link. */
function isLinked(path: string): boolean {
  try {
    return realpathSync(path) !== path;
  } catch {
    // The file does not exist.
    return false;
  }
}

/** The paths as they are written, without the places that links lead to. */
function unresolved(paths: readonly string[]): readonly string[] {
  const led = new Set(paths.filter(isLinked).map((path) => realpathSync(path)));
  return paths.filter((path) => isLinked(path) || !led.has(path));
}

export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'denies no secret',
    rules: ["    deny: ['files/*', 'shell/*']\n    path: [", '    deny: none/none\n    path: ['],
  },
  {
    fault: 'has a wrong letter in the path of a secret',
    rules: ["'PROJECT/.env'", "'PROJECT/.envv'"],
  },
  {
    fault: 'protects secrets from file tools only',
    rules: ["    deny: ['files/*', 'shell/*']", "    deny: 'files/*'"],
  },
  {
    fault: 'protects secrets from commands only',
    rules: ["    deny: ['files/*', 'shell/*']", "    deny: 'shell/*'"],
  },
  {
    fault: 'protects secrets from another agent',
    rules: ['    because: Secrets stay', '    agents: other\n    because: Secrets stay'],
  },
  {
    fault: 'allows uses of git that write files',
    rules: [
      '          - add\n',
      '          - add\n          - apply\n          - config\n          - remote add\n          - worktree add\n',
    ],
  },
  {
    fault: 'has a wrong letter in the path of migrations',
    rules: ['path: PROJECT/migrations', 'path: PROJECT/migration'],
  },
  {
    fault: 'asks about migrations only for file tools',
    rules: ["ask: ['files/*', 'shell/*']", "ask: 'files/*'"],
  },
  {
    fault: 'allows writing anywhere',
    rules: ["'shell/write'], path: PROJECT }", "'shell/write'] }"],
  },
  { fault: 'allows reading anywhere', rules: ['class: read, path: PROJECT }', 'class: read }'] },
  { fault: 'allows every program', rules: ['class: read, path: PROJECT }', 'path: PROJECT }'] },
  { fault: 'allows what no rule is about', rules: ['default: ask', 'default: allow'] },
  {
    fault: 'allows addresses of any host',
    rules: [', host: [docs.example.com, packages.example.com] }', ' }'],
  },
  { fault: 'does not see text that is only known while it runs', parts: without('shell/dynamic') },
  {
    fault: 'does not see text that it cannot read',
    parts: without('shell/unparsed', 'shell/dynamic'),
  },
  { fault: 'does not see what redirections write', parts: without('shell/write') },
  { fault: 'does not see what redirections read', parts: without('shell/read') },
  { fault: 'reads the first program of a command only', parts: (parts) => parts.slice(0, 1) },
  {
    fault: 'names no paths of programs',
    parts: withArgs(({ paths, ...args }) => ({
      ...args,
      ...(paths !== undefined && { paths: [args['cwd']] }),
    })),
  },
  {
    fault: 'does not follow symbolic links',
    parts: (parts) =>
      parts
        .filter(
          ({ server, args }) =>
            server !== 'files' || unresolved(pathsOf(parts)).includes(String(args['path'])),
        )
        .map((part) => ({
          ...part,
          args: {
            ...part.args,
            ...(Array.isArray(part.args['paths']) && {
              paths: unresolved(part.args['paths'] as string[]),
            }),
          },
        })),
  },
  {
    fault: 'takes every path for one of the project',
    parts: withArgs(({ paths, ...args }) => ({
      ...args,
      ...(paths !== undefined && {
        paths: (paths as string[]).map((path) =>
          path.replace(/^(?!.*\/proj\/).*/, String(args['cwd'])),
        ),
      }),
    })),
  },
  {
    fault: 'does not see the settings of the agent',
    parts: (parts) => parts.filter(({ tool }) => tool !== 'settings'),
  },
  {
    fault: 'takes a program at a path for one that reads',
    parts: (parts) =>
      parts.map((part) =>
        part.tool === 'file'
          ? { ...part, tool: 'cat', args: { ...part.args, class: 'read' } }
          : part,
      ),
  },
];

function pathsOf(parts: readonly CallPart[]): readonly string[] {
  return parts.map(({ args }) => String(args['path'] ?? ''));
}

/** The rules with the fault in them. */
export function faultyRules({ fault, rules }: Mutant, text: string): string {
  if (rules === undefined) return text;
  const [from, to] = rules;
  const count = text.split(from).length - 1;
  if (count !== 1)
    throw new Error(
      `The mutant that ${fault} no longer fits: ${JSON.stringify(from)} is there ${count} times.`,
    );
  return text.replace(from, () => to);
}
