import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call, Case } from './cases.ts';
import type { Effects, Job } from './effects.ts';
import { expanded, makeWorlds, type World, withWritten, worldAt } from './fixture.ts';
import type { Judging, Questions, Verdict } from './judge.ts';
import { runJobs } from './runner.ts';

/** A case in a world of its past, with the paths of that world. */
export interface Placed {
  readonly at: Case;
  readonly world: World;
  readonly call: Call;
}

/** Cases in their worlds on this machine. */
export class Reality {
  readonly base: string;
  readonly placed: readonly Placed[];

  constructor(cases: readonly Case[]) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'reality-')));
    makeWorlds(this.base);
    const written = new Map<string, World>();
    this.placed = cases.map((at) => {
      const { past = 'plain', writes } = at;
      let world = worldAt(join(this.base, past));
      if (writes !== undefined) {
        const key = JSON.stringify([past, writes]);
        const made = written.get(key);
        world = made ?? withWritten(this.base, `w${written.size}`, { past, files: writes });
        written.set(key, world);
      }
      return { at, world, call: expandedCall(at.call, world) };
    });
  }

  /** A case, in a text that is the same for the same case in another folder. */
  keyOf(place: number): string {
    const { at } = this.placed[place] as Placed;
    return JSON.stringify([at.past ?? 'plain', at.writes ?? {}, at.call]);
  }

  /** Runs the cases of the given places, within the sandbox of rules if there are some. */
  async run(places: readonly number[], wall?: string): Promise<ReadonlyMap<number, Effects>> {
    const jobs = places.map((id): Job => {
      const { world, call } = this.placed[id] as Placed;
      const { tool, input } = call;
      const own = wall === undefined ? {} : { wall: expanded(wall, world) };
      const name = world.root.slice(this.base.length + 1);
      return { id, tool, input, world: name, cwd: world.project, ...own };
    });
    return runJobs(this.base, jobs);
  }

  /**
   * The strictest verdict on each of the cases and on the writes before it, by each of the judges.
   */
  async judge(
    judges: readonly Judging[],
    places: readonly number[] = [...this.placed.keys()],
  ): Promise<readonly Verdict[][]> {
    const asked: { world: World; call: Call }[] = [];
    const counts = places.map((place) => {
      const { at, world, call } = this.placed[place] as Placed;
      const before = worldAt(join(this.base, at.past ?? 'plain'));
      const writes = Object.entries(at.writes ?? {}).map(([path, content]) => ({
        world: before,
        call: expandedCall(
          { tool: 'Write', input: { file_path: `PROJECT/${path}`, content } },
          before,
        ),
      }));
      asked.push(...writes, { world, call });
      return writes.length + 1;
    });
    const answers = await judged({ judges, asked });
    let next = 0;
    return counts.map((count) => {
      const own = answers.slice(next, next + count);
      next += count;
      return judges.map((_, i) => strictest(own.map((each) => each[i] as Verdict)));
    });
  }

  remove(): void {
    for (const path of [this.base, `${this.base}.own`])
      rmSync(path, { recursive: true, force: true });
  }
}

const BY_STRICTNESS = ['allow', 'ask', 'deny'];

function strictest(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce((most, each) =>
    BY_STRICTNESS.indexOf(each.was) > BY_STRICTNESS.indexOf(most.was) ? each : most,
  );
}

function expandedCall({ tool, input }: Call, world: World): Call {
  return { tool, input: expandedIn(input, world) as Call['input'] };
}

function expandedIn(value: unknown, world: World): unknown {
  if (typeof value === 'string') return expanded(value, world);
  if (Array.isArray(value)) return value.map((each) => expandedIn(each, world));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, expandedIn(each, world)]),
  );
}

/** The verdicts of a process of its own: nothing of a mutant stays in this one. */
async function judged(questions: Questions): Promise<readonly Verdict[][]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'judge.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk));
  child.stdin.end(JSON.stringify(questions));
  const code = await new Promise<number | null>((done, fail) => {
    child.on('error', fail);
    child.on('close', done);
  });
  if (code !== 0) throw new Error(`The calls could not be judged: ${errors}`);
  const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Verdict[]);
}
