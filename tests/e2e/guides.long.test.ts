/** The examples of docs/guide, run as they stand. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { completion, StubProvider } from '../support/models/stub-provider.ts';
import { stepsOf, writeFiles } from '../support/process/guide-files.ts';
import { ServedGuide } from '../support/process/served-guide.ts';

const root = join(import.meta.dirname, '../..');
const python = spawnSync('python3', ['--version']).status === 0;
let here: string;

beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'assize-guide-'));
  mkdirSync(join(here, 'bin'));
  for (const [name, main] of [
    ['assize', 'packages/cli/src/main.ts'],
    ['assize-experiments', 'labs/cli/main.ts'],
  ] as const) {
    const command = join(here, 'bin', name);
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, main)}" "$@"\n`);
    chmodSync(command, 0o755);
  }
  symlinkSync(join(root, 'verifiers'), join(here, 'verifiers'));
});
afterEach(() => rmSync(here, { recursive: true }));

/** A slow machine says how far it is. */
function withoutProgress(printed: string): string {
  return printed.replace(/^[a-z ]+: \d+\/\d+ \(\d+ %\).*\n/gm, '');
}

/** The terminal steps of a guide: each command with the text below it. */
function steps(page: string): { readonly command: string; readonly below: string }[] {
  return blocks(page, 'console').flatMap(stepsOf);
}

function blocks(page: string, name = 'sh'): string[] {
  const text = readFileSync(join(root, page.includes('/') ? page : `docs/guide/${page}`), 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, is]) => is === name)
    .map(([, , code]) => code as string);
}

function shell(script: string, cwd = here): string {
  const env = {
    ...process.env,
    PATH: `${join(here, 'bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
  };
  return execFileSync('sh', ['-eu', '-c', script], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs the commands of a page. They print each line that the page shows, and these parts. */
function expectPrinted(page: string, ...parts: readonly string[]): void {
  const said = shell(blocks(page).join('\n'));
  const shown = blocks(page, 'text').flatMap((text) => text.trimEnd().split('\n'));
  expect(shown.length).toBeGreaterThan(3);
  for (const part of [...shown, ...parts]) expect(said).toContain(part);
}

test.skipIf(!python)('proof-bundles.md runs with python3', () => {
  expectPrinted('proof-bundles.md');
});

test.skipIf(!python)('audit.md runs with python3', async () => {
  expectPrinted('audit.md', 'signs 2 trajectories from now on', '31 of them new');
  const [making, serving] = blocks('audit.md', 'sh witness')[0]!.trim().split('\n') as [
    string,
    string,
  ];
  const store = 'export ASSIZE_STORE=sqlite:./assize-demo.db\n';
  shell(store + making);
  const free = serving.replace(':2112', ':0');
  const env = {
    ...process.env,
    PATH: `${join(here, 'bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
  };
  const witness = spawn('sh', ['-c', `exec ${free}`], {
    cwd: here,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let heard = '';
    for await (const chunk of witness.stdout as AsyncIterable<Buffer>) {
      heard += chunk;
      const url = /at (http:\S+)/.exec(heard)?.[1];
      if (url === undefined) continue;
      const [asking] = blocks('audit.md', 'sh cosigned') as [string];
      expect(shell(store + asking.replace('http://127.0.0.1:2112/', url))).toContain(
        'cosigned by witness.example',
      );
      break;
    }
  } finally {
    witness.kill('SIGTERM');
    await once(witness, 'exit');
  }
});

test.skipIf(!python)('backups.md, with stand-ins for pg_dump, and with python3', () => {
  expectPrinted(
    'backups.md',
    'Retired on',
    '4 entries moved',
    'No faults found; compared with the checkpoint of 28 entries',
    'valid: 28 entries, 2 trajectories',
  );
  const [recipe] = blocks('backups.md', 'sh postgres') as [string];
  for (const program of ['pg_dump', 'pg_restore']) {
    writeFileSync(join(here, 'bin', program), '#!/bin/sh\necho "$0 $*" >> called\n');
    chmodSync(join(here, 'bin', program), 0o755);
  }
  const old =
    'OLD=sqlite:./server.db; NEW=sqlite:./new.db; cp backup.db server.db; cp server.db new.db';
  const moved = shell(
    `${old}; cp assize-demo.db.key ledger.key; cp assize-demo.db.vkey ledger.vkey\n${recipe}`,
  );
  for (const part of [
    'stored in ledger.checkpoint',
    'No faults found; compared with the checkpoint',
    'Retired on',
    'Adopted',
  ])
    expect(moved).toContain(part);
  expect(readFileSync(join(here, 'called'), 'utf8')).toMatch(
    /pg_dump --format=custom .* --file=ledger\.dump .*\n.*pg_restore .* ledger\.dump\n$/,
  );
});

test('erasure.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  try {
    writeFiles('erasure.md', folder);
    const printed = execFileSync(process.execPath, ['erase.ts'], { cwd: folder, encoding: 'utf8' });
    expect(printed.replaceAll(/[0-9a-f]{64}/g, '…')).toBe(
      blocks('erasure.md', 'text erase.ts').join(''),
    );
    const check = blocks('erasure.md', 'sh limits');
    const said = shell([...blocks('erasure.md'), ...check].join('\n'), folder);
    expect(check).toHaveLength(1);
    expect(said).toMatch(/^erased 2 values of 1 entry, by [0-9a-f]{12}, ward seq 5$/m);
    expect(said).toMatch(/\/delta\/state\/1\/value was erased by [0-9a-f]{64}\./);
    expect(said).toMatch(/^ward +6 .* 6 +[0-9a-f]{12} +valid$/m);
    const left = readFileSync(join(folder, 'clinic.db'), 'latin1');
    for (const text of [said, left]) expect(text).not.toMatch(/David|Maria/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('policies.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  try {
    writeFiles('policies.md', folder);
    const known = (printed: string): string => withoutProgress(printed).trimEnd();
    const commands = steps('policies.md');
    expect(commands).toHaveLength(5);
    for (const { command, below } of commands)
      expect(known(shell(`{ ${command}; } 2>&1 || true`, folder)), command).toBe(known(below));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([['labs/architectures/README.md', 3]])('%s', (page, count) => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  try {
    writeFiles(page, folder);
    const commands = steps(page);
    expect(commands).toHaveLength(count);
    for (const { command, below } of commands) {
      const printed = shell(`{ ${command}; } 2>&1 || true`, folder);
      expect(withoutProgress(printed).trimEnd(), command).toBe(below.trimEnd());
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Follows a page from an empty folder. Each command prints the text that the page shows. */
async function followed(
  page: string,
  count: number,
  prepare: (guide: ServedGuide) => void = () => {},
): Promise<void> {
  const guide = await ServedGuide.begin();
  try {
    prepare(guide);
    await guide.follow(page, ['sh elsewhere']);
    for (const { command, shown, printed } of guide.steps) expect(printed, command).toBe(shown);
    expect(guide.steps).toHaveLength(count);
  } finally {
    await guide.end();
  }
}

test.each([
  ['configuration.md', 11],
  ['incidents.md', 10],
  ['observe.md', 11],
  ['replay.md', 9],
  ['reports.md', 9],
])('%s', (page, count) => followed(page, count));

test('backtest.md, with the ledgers of policies.md and agents.md', () =>
  followed('backtest.md', 15, (guide) => {
    for (const page of ['policies.md', 'agents.md']) guide.write(page);
    guide.sh('node work.ts; node record.ts');
  }));

test('domain-upgrade.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const known = (text: string): string =>
    text.replace(/\b[0-9a-f]{12}\b/g, '#'.repeat(12)).trimEnd();
  const run = (name: string) =>
    execFileSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' });
  try {
    writeFiles('domain-upgrade.md', folder);
    const told = steps('domain-upgrade.md');
    expect(told).toHaveLength(5);
    const settings = 'export ASSIZE_STORE=sqlite:./books.db\n';
    for (const { command, below } of told)
      expect(
        known(withoutProgress(shell(`${settings}{ ${command}; } 2>&1 || true`, folder))),
        command,
      ).toBe(below);
    for (const file of ['books.db', 'books.db-wal', 'books.db-shm'])
      rmSync(join(folder, file), { force: true });
    run('begin.ts');
    expect(run('upgrade.ts')).toBe("committed undefined [] []\n{ n: 7, note: 'from version 1' }\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('agents.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const run = (name: string) =>
    execFileSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' });
  try {
    writeFiles('agents.md', folder);
    expect(run('record.ts')).toBe(blocks('agents.md', 'text record.ts').join(''));
    expect(run('record.ts'), 'again').toBe('done 9 true\n');
    expect(run('replay.ts')).toBe(blocks('agents.md', 'text replay.ts').join(''));
    const said = shell(blocks('agents.md').join('\n'), folder);
    expect(said).toMatch(/^\/observations\/0 model, first asked \d{4}-/m);
    expect(said).toMatch(/^\/observations\/1 turn 0, first asked \d{4}-/m);
    expect(said).toContain('"agent": "sara"');
    const named = shell('export ASSIZE_STORE=sqlite:./desk.db\nassize show desk@1', folder);
    expect(named).toMatch(
      /^\/observations\/0 model is an answer of 5 bytes, first asked .*; --blobs shows it\.$/m,
    );
    const { answers } = JSON.parse(
      shell('export ASSIZE_STORE=sqlite:./desk.db\nassize show desk@1 --blobs --json', folder),
    );
    expect(answers[0]).toMatchObject({
      pointer: '/observations/0',
      name: 'model',
      is: 'there',
      value: 'yes',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('agents.md: a model, with a stub in place of the local server', async () => {
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const provider = await StubProvider.listen('openai', [completion([['done', {}]])], { key: null });
  try {
    writeFiles('agents.md', folder);
    const printed = execFileSync(process.execPath, ['buy.ts'], { cwd: folder, encoding: 'utf8' });
    expect(printed).toBe(blocks('agents.md', 'text buy.ts').join(''));
    shell(blocks('agents.md', 'sh writ').join(''), folder);
    const [run] = blocks('agents.md', 'sh run') as [string];
    const env = {
      ...process.env,
      PATH: `${join(here, 'bin')}:${process.env['PATH']}`,
      NO_COLOR: '1',
    };
    const line = run.replace('http://127.0.0.1:11434', provider.origin);
    const running = spawn('sh', ['-c', line], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(Buffer.concat(await running.stdout.toArray()).toString()).toMatch(
      /^Began the trajectory \S+\.\n0 ada is done\nAll agents are done\./,
    );
  } finally {
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('writs.md', () => {
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const sh = (name?: string): string =>
    shell(`export ASSIZE_STORE=sqlite:./notes.db\n${blocks('writs.md', name).join('\n')}`, folder);
  const spend = (): string[] =>
    execFileSync(process.execPath, ['spend.ts'], { cwd: folder, encoding: 'utf8' })
      .trim()
      .split('\n');
  try {
    writeFiles('writs.md', folder);
    expect(execFileSync(process.execPath, ['delegate.ts'], { cwd: folder, encoding: 'utf8' })).toBe(
      blocks('writs.md', 'text delegate.ts').join(''),
    );
    expect(sh()).toMatch(
      /^signed .*\nsigned .*\nThe writ is valid, and grants note on role:writer\.\nrefused\n$/,
    );
    expect(spend()).toEqual([
      ...Array(4).fill('committed'),
      expect.stringMatching(/^budget_exhausted: .* has 0 calls left/),
    ]);
    expect(sh('sh spent')).toMatch(
      /spent +4 calls; reserved: none; left: 6 calls\n[\s\S]*spent +4 calls; reserved: none; left: 0 calls/,
    );
    expect(sh('sh revoke')).toMatch(
      /^revoked [0-9a-f]{12} by [0-9a-f]{12}, notes seq 6\n[\s\S]*was revoked\. \(revoked\)\nrevoked\n$/,
    );
    expect(new Set(spend())).toEqual(
      new Set([expect.stringMatching(/^invalid_authority: .* was revoked\.$/)]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
