import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A call in the making: a text that a tool has answered already, or words for bash. */
export type Made = { readonly text: string } | { readonly argv: readonly string[] };

type Input = Readonly<Record<string, unknown>>;

/**
 * The tools of Claude Code, as small programs that reach what the tools reach. Runs in the sandbox.
 */
export function madeBy(tool: string, input: Input, cwd: string): Made {
  try {
    return (TOOLS[tool] ?? other)(input, cwd, tool);
  } catch (error) {
    return { text: String(error) };
  }
}

const LIMITS = 'ulimit -f 40960 -t 8; shopt -u extglob; eval "$0"';

const bash = (input: Input): Made => ({ argv: ['-c', LIMITS, text(input['command'])] });

const TOOLS: Readonly<Record<string, (input: Input, cwd: string, tool: string) => Made>> = {
  Bash: bash,
  Monitor: bash,
  Read: (input) => ({ argv: ['-c', 'exec cat -- "$0"', text(input['file_path'])] }),
  Write: (input, cwd) => written(resolve(cwd, text(input['file_path'])), text(input['content'])),
  Edit: edited,
  MultiEdit: edited,
  NotebookEdit: (input, cwd) =>
    written(resolve(cwd, text(input['notebook_path'])), text(input['new_source'])),
  Glob: (input, cwd) => ({
    text: globSync(text(input['pattern']), { cwd: resolve(cwd, text(input['path'])) }).join('\n'),
  }),
  LS: (input, cwd) => ({ argv: ['-c', 'ls -a -- "$0"', resolve(cwd, text(input['path']))] }),
  Grep: (input, cwd) => {
    const glob = text(input['glob']);
    const words = glob === '' ? [] : ['--glob', glob];
    const path = resolve(cwd, text(input['path']));
    const program = 'pattern=$0; path=$1; shift; exec rg --hidden -n "$@" -e "$pattern" -- "$path"';
    return { argv: ['-c', program, text(input['pattern']), path, ...words] };
  },
  WebFetch: (input) => ({ argv: ['-c', 'curl -s -m 2 -- "$0"', text(input['url'])] }),
};

/** A tool of a server of files, by the names that such servers have. Others reach nothing. */
function other(input: Input, cwd: string, tool: string): Made {
  if (!tool.startsWith('mcp__fs__')) return { text: '' };
  const paths = [input['path'], input['paths']].flat().filter((each) => typeof each === 'string');
  if (/write|edit|create/.test(tool))
    return written(resolve(cwd, text(paths[0])), text(input['content']));
  return { text: paths.map((path) => readFileSync(resolve(cwd, path), 'latin1')).join('\n') };
}

function edited(input: Input, cwd: string): Made {
  const path = resolve(cwd, text(input['file_path']));
  const before = readFileSync(path, 'utf8');
  const edits = (input['edits'] ?? [input]) as readonly Input[];
  return written(
    path,
    edits.reduce(
      (now, each) => now.replace(text(each['old_string']), () => text(each['new_string'])),
      before,
    ),
  );
}

function written(path: string, content: string): Made {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return { text: 'written' };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
