import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from 'assize/internal/base';
import { z } from 'zod';
import { exportName } from '../module-source.ts';
import type { Ontology } from '../ontology.ts';
import type { Answer } from './answer.ts';
import { type DraftFinding, FINDING, FINDINGS_MAX } from './finding.ts';

/** The work of the process that runs a draft: plain data. */
export interface TrialWork {
  /** Stands before and after the result, and is new for each trial: a draft cannot print it. */
  readonly mark: string;
  /** The module, in TypeScript. */
  readonly source: string;
  readonly exportName: string;
  readonly ontology: Ontology;
  readonly examples: readonly {
    readonly id: string;
    readonly blocks: readonly Json[];
    readonly passes: readonly Json[];
  }[];
}

export interface TrialLimits {
  /** Milliseconds until the process is killed. */
  readonly timeMs: number;
  readonly memoryMb: number;
}

/** Characters that the process may print. */
const OUTPUT_MAX = 1_000_000;
const OUTPUT = z.strictObject({ findings: z.array(FINDING).max(2 * FINDINGS_MAX) });

const workbench = realpathSync(join(import.meta.dirname, '..'));
const root = join(workbench, '../..');
/** The code that a trial loads. It can read nothing else. */
const READABLE: readonly string[] = [
  ...['packages', 'node_modules'].map((folder) => join(root, folder, '*')),
  join(root, 'package.json'),
  join(root, 'labs/package.json'),
  join(root, 'labs/architectures/draw/*'),
  join(workbench, '*'),
];

/**
 * Runs a drafted module in a process of its own, and returns the findings of its checks. The
 * process has no environment, reads only the code of this package, writes no file, starts no
 * process, and makes no code from text (Node's permission model and options). It has no global of
 * Node, no module but `assize` and `zod`, and no way to a socket (`close-doors.ts`). It is killed
 * after the time limit.
 *
 * The doors are closed by Node and by JavaScript, not by the operating system: a fault in V8 or
 * Node could open them. The model's code could also lie about its own findings. A person reads it
 * before it is used anywhere else.
 */
export async function runTrial(
  { text }: { readonly text: string },
  ontology: Ontology,
  { invariants }: Pick<Answer, 'invariants'>,
  limits: TrialLimits,
): Promise<DraftFinding[]> {
  const work: TrialWork = {
    mark: randomUUID(),
    source: text,
    exportName: exportName(ontology.domain),
    ontology,
    examples: Object.entries(invariants).map(([id, { blocks, passes }]) => ({
      id,
      blocks,
      passes,
    })),
  };
  const { output, ended } = await run(JSON.stringify(work), limits);
  const [, result] = output.split(work.mark);
  if (ended !== undefined) return [fault(ended)];
  const parsed = OUTPUT.safeParse(parsedJson(result));
  return parsed.success ? parsed.data.findings : [fault('its checks ended without a result')];
}

function run(
  input: string,
  { timeMs, memoryMb }: TrialLimits,
): Promise<{ readonly output: string; readonly ended: string | undefined }> {
  const child = spawn(
    process.execPath,
    [
      ...['--permission', ...READABLE.map((path) => `--allow-fs-read=${path}`)],
      ...[
        '--disallow-code-generation-from-strings',
        '--no-warnings',
        `--max-old-space-size=${memoryMb}`,
      ],
      join(workbench, 'drafting/trial-process.ts'),
    ],
    { cwd: workbench, env: {}, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  return new Promise((resolve, reject) => {
    let output = '';
    let ended: string | undefined;
    const end = (why: string): void => {
      ended ??= why;
      child.kill('SIGKILL');
    };
    // A draft that never ends must not outlive the caller.
    const endWithCaller = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', endWithCaller);
    const timer = setTimeout(
      () => end(`its checks took longer than ${timeMs / 1_000} seconds`),
      timeMs,
    );
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > OUTPUT_MAX) end('it printed too much');
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      process.off('exit', endWithCaller);
      if (code !== 0) ended ??= 'it ended its process';
      resolve({ output, ended });
    });
    // A process that ended early does not read its input. Its end is the finding.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function parsedJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

function fault(says: string): DraftFinding {
  return { check: 'run', severity: 'error', where: 'module', says };
}
