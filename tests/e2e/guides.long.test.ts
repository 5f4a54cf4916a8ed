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
import { writeFiles } from '../support/process/guide-files.ts';
import { startServer } from '../support/process/listening-server.ts';

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
function steps(page: string): { command: string; below: string }[] {
  return blocks(page, 'console')
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((step) => {
      const [command = '', ...below] = step.trimEnd().split('\n');
      return { command, below: below.join('\n') };
    });
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

test.skipIf(!python)('proof-bundles.md, which also needs python3', () => {
  const said = shell(blocks('proof-bundles.md').join('\n'));
  for (const part of [
    '1 entry in scope, and 2 entries as context: approval.zip',
    'The bundle is valid: 1 entry in scope and 2 entries as context are in the 28 entries signed by example.com/ledger',
    'valid: 1 entry in scope and 2 as context are in the 28 entries signed by example.com/ledger',
    'entries.jsonl is not as in the manifest (file_differs)',
    'refused',
  ])
    expect(said).toContain(part);
});

test.skipIf(!python)('archive.md, which also needs python3', () => {
  const said = shell(blocks('archive.md').join('\n'));
  for (const part of [
    '24 entries moved',
    'archived: 24 of 28 entries in the log',
    '2 of 2 trajectories are valid, 28 entries',
    '4 entries moved',
    'No faults found; compared with the checkpoint of 28 entries',
    'valid: 28 entries, 2 trajectories',
  ])
    expect(said).toContain(part);
});

test.skipIf(!python)('audit.md, which also needs python3', async () => {
  const said = shell(blocks('audit.md').join('\n'));
  for (const part of [
    '2 of 2 trajectories are valid',
    '28 of them in the log',
    'signs 2 trajectories from now on',
    'grew from 28 to 31 entries',
    'The entry has index 0 in the 31 entries',
    '31 of them new',
  ]) {
    expect(said).toContain(part);
  }
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

test('command-line.md', () => {
  const [making, listing, creating] = blocks('command-line.md') as [string, string, string];
  shell(making);
  const store = 'export ASSIZE_STORE=sqlite:./assize-demo.db\n';
  const known = (printed: string): string => printed.trimEnd().replaceAll(/[0-9a-f]{64}/g, '…');
  const told = steps('command-line.md');
  expect(told).toHaveLength(5);
  for (const { command, below } of told) {
    const printed = shell(`${store}{ ${command} 2> told; } || true`);
    expect(known(printed), command).toBe(known(below));
    const { error } = JSON.parse(printed);
    expect(readFileSync(join(here, 'told'), 'utf8')).toBe(
      error === undefined ? '' : `assize: ${error.message}\n`,
    );
  }
  shell(store + listing);
  const members = (name: string): string[] =>
    Object.keys(JSON.parse(readFileSync(join(here, name), 'utf8')));
  expect(members('demo.json')).toContain('ok');
  expect(members('pending.json')).toEqual(['pending', 'expired', 'halted']);
  expect(members('effects.json')).toEqual(['transactions', 'pending_proposals']);
  expect(shell(creating)).toMatch(/"ruling":"committed"|"ruling": "committed"|\ncommitted as /);
});

test('backups.md, with stand-ins for the programs of PostgreSQL', () => {
  const said = shell(blocks('backups.md').join('\n'));
  for (const part of [
    'backup.db: 28 entries',
    'Compared with the checkpoint',
    'Retired on',
    '2 of 2 trajectories are valid',
  ])
    expect(said).toContain(part);
  const [recipe] = blocks('backups.md', 'sh postgres') as [string];
  for (const program of ['pg_dump', 'pg_restore']) {
    writeFileSync(join(here, 'bin', program), '#!/bin/sh\necho "$0 $*" >> called\n');
    chmodSync(join(here, 'bin', program), 0o755);
  }
  const old =
    'OLD=sqlite:./server.db; NEW=sqlite:./new.db; mv restored.db server.db; cp server.db new.db';
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

test('policies.md and backtest.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const pages = ['policies.md', 'backtest.md'];
  try {
    for (const page of pages) writeFiles(page, folder);
    const known = (printed: string): string => withoutProgress(printed).trimEnd();
    const commands = pages.flatMap(steps);
    expect(commands).toHaveLength(8);
    for (const { command, below } of commands)
      expect(known(shell(`{ ${command}; } 2>&1 || true`, folder)), command).toBe(known(below));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('reports.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const known = (text: string): string =>
    text.replace(/\b[0-9a-f]{12}\b/g, '#'.repeat(12)).trimEnd();
  try {
    writeFiles('reports.md', folder);
    const [demo, checkpoint] = blocks('reports.md') as [string, string];
    shell(demo, folder);
    const commands = steps('reports.md');
    expect(commands).toHaveLength(7);
    let settings = '';
    for (const { command, below } of commands) {
      if (command.startsWith('export ')) settings += `${command}\n`;
      // The first step that shows the checkpoint comes after the block that signs it.
      if (command.includes('signed checkpoint')) shell(checkpoint, folder);
      const printed = shell(`${settings}{ ${command}; } 2>&1 || true`, folder);
      expect(known(withoutProgress(printed)), command).toBe(known(below));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('rules-file.md and rules-file-use.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const pages = ['rules-file.md', 'rules-file-use.md'];
  const known = (text: string): string =>
    text.replace(/\b[0-9a-f]{12}\b/g, '#'.repeat(12)).trimEnd();
  try {
    for (const page of pages) writeFiles(page, folder);
    const commands = pages.flatMap(steps);
    expect(commands).toHaveLength(5);
    for (const { command, below } of commands) {
      const printed = shell(`{ ${command}; } 2>&1 || true`, folder);
      expect(known(withoutProgress(printed)), command).toBe(known(below));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['mined-rules.md', 6],
  ['observe.md', 11],
  ['labs/architectures/README.md', 3],
])('%s', (page, count) => {
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

test.each(['replay.md', 'deep-replay.md'])('%s', (page) => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  // Ids, and the time at which the page's branch starts, change from run to run.
  const known = (text: string): string =>
    text.replace(/\b[0-9a-f]{12}\b/g, '#'.repeat(12)).replace(/^(what-if@0 +)\S+/gm, '$1now');
  try {
    writeFiles(page, folder);
    let settings = '';
    for (const { command, below } of steps(page)) {
      if (command.startsWith('export ')) settings += `${command}\n`;
      const printed = shell(`${settings}{ ${command}; } 2>&1 || true`, folder);
      expect(known(withoutProgress(printed).trimEnd()), command).toBe(known(below));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('incidents.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const known = (text: string): string =>
    text.replace(/\b([0-9a-f]{64}|[0-9a-f]{12})\b/g, '#').trimEnd();
  try {
    writeFiles('incidents.md', folder);
    shell((blocks('incidents.md') as [string])[0], folder);
    const told = steps('incidents.md');
    expect(told).toHaveLength(6);
    for (const { command, below } of told)
      expect(known(withoutProgress(shell(`{ ${command}; } 2>&1 || true`, folder))), command).toBe(
        known(below),
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('blast-radius.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const settings = 'export ASSIZE_STORE=sqlite:./assize-demo.db\n';
  const known = (text: string): string =>
    text.replace(/\b[0-9a-f]{12}\b/g, '#'.repeat(12)).trimEnd();
  try {
    const [begin] = blocks('blast-radius.md') as [string];
    shell(begin, folder);
    writeFiles('blast-radius.md', folder);
    const told = steps('blast-radius.md');
    expect(told).toHaveLength(3);
    for (const { command, below } of told)
      expect(
        known(withoutProgress(shell(`${settings}{ ${command}; } 2>&1 || true`, folder))),
        command,
      ).toBe(known(below));
    const said = execFileSync(process.execPath, ['radius.ts'], { cwd: folder, encoding: 'utf8' });
    expect(said).toBe("2 [ 'bank.transfer applied' ]\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

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

/** The server of simulate.md, with its request. */
async function simulatedAtServer(folder: string): Promise<void> {
  const server = await startServer(folder, ['--port', '0']);
  try {
    writeFileSync(join(folder, 'ann.token'), shell('assize token create admin:ann', folder), {
      mode: 0o600,
    });
    const [asking = ''] = blocks('simulate.md', 'sh server');
    const said = shell(`export ASSIZE_URL=${server.url}\n${asking}`, folder);
    const { at, variants } = JSON.parse(said);
    expect([at.seq, variants[0].samples[0].parts, variants[1].rules]).toEqual([
      2,
      undefined,
      { 'no-roofs': { rejected: variants[1].medians.rejected, escalated: 0 } },
    ]);
  } finally {
    await server.end('SIGTERM');
  }
}

test('agents.md and simulate.md', async () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const run = (name: string) =>
    execFileSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' });
  try {
    for (const page of ['agents.md', 'simulate.md']) writeFiles(page, folder);
    expect(run('record.ts')).toBe(blocks('agents.md', 'text record.ts').join(''));
    expect(run('record.ts'), 'again').toBe('done 9 true\n');
    expect(run('replay.ts')).toBe(blocks('agents.md', 'text replay.ts').join(''));
    const undated = (text: string) =>
      text.replaceAll(/\d{4}-\d\d-\d\d|\([0-9a-f]{12}\)/g, '…').trimEnd();
    for (const { command, below } of steps('simulate.md'))
      expect(undated(shell(command, folder)), command).toBe(undated(below));
    expect(run('simulate.ts')).toBe(blocks('simulate.md', 'text simulate.ts').join(''));
    await simulatedAtServer(folder);
    // The simulators of the page, as data and as functions.
    const given = '--store sqlite:./desk.db --domain desk.ts --anchors anchors.json';
    for (const file of ['bank.json', 'simulators.ts'])
      expect(
        shell(`assize lab simulate desk desk.ts --simulators ${file} ${given}`, folder),
      ).toContain('desk has the rulings of the record.');
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

test('configuration.md', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  const known = (text: string): string =>
    text
      .replaceAll(folder, 'PATH')
      .replace(/\b[0-9a-f]{12}\b/g, '#'.repeat(12))
      .trimEnd();
  try {
    shell(blocks('configuration.md').join('\n'), folder);
    writeFiles('configuration.md', folder);
    const told = steps('configuration.md');
    expect(told).toHaveLength(6);
    for (const { command, below } of told)
      expect(known(shell(`{ ${command}; } 2>&1 || true`, folder)), command).toBe(known(below));
    for (const _run of [1, 2]) {
      const printed = execFileSync(process.execPath, ['begin.ts'], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(printed).toBe(blocks('configuration.md', 'text begin.ts').join(''));
    }
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
