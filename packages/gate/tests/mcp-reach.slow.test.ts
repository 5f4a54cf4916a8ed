/** The filesystem server of npm behind the gateway, above a file that the rules deny. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf, served } from '../../../tests/support/mcp/served-gateway.ts';
import { Gateway, upstreamOf } from '../src/mcp/index.ts';

const SERVER = join(
  import.meta.dirname,
  '../../../peers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
);
const isAbsent = !existsSync(SERVER);
const titled = (title: string) =>
  `${title}${isAbsent ? ' (absent without npm ci --prefix peers)' : ''}`;

/** A folder with a denied file, a client behind the gateway, and what a call of it says. */
async function before(tools: string, effect: 'deny' | 'ask' = 'deny') {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'assize-reach-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'src'));
  writeFileSync(join(home, 'src/a.ts'), 'one');
  writeFileSync(join(home, '.env'), 'CANARY');
  symlinkSync(join(home, '.env'), join(home, 'src/alias'));
  const place = await served(`
id: notes
trust: [notes]
default: allow
tools: ${tools}
rules:
  - { id: secrets, ${effect}: notes/*, path: ${home}/.env }
`);
  const spec = { command: process.execPath, args: [SERVER, home], cwd: home };
  const onWarning = () => undefined;
  const upstream = upstreamOf(spec, { version: '0', onWarning });
  const gateway = new Gateway({ upstream, desk: place.desk(), limits: { waitMs: 0 }, onWarning });
  const { client, close } = await clientOf(gateway);
  onTestFinished(close);
  const call = async (name: string, args: object): Promise<string> => {
    const result: any = await client.callTool({ name, arguments: args as never });
    return result.content.map(({ text = '' }) => text).join();
  };
  return { home, call, place };
}

const REFUSED = /^The call was refused: .*\[secrets\]/;

describe.skipIf(isAbsent)(titled('the filesystem server'), () => {
  test('a tool that declares nothing reaches what is below the folders it gets', async () => {
    const { home, call } = await before('{}');
    const refused = [
      ['search_files', { path: home, pattern: '**/*' }],
      ['search_files', { path: '.', pattern: '**/*' }],
      ['directory_tree', { path: home }],
      ['read_multiple_files', { paths: [join(home, 'src/a.ts'), join(home, '.env')] }],
      ['read_multiple_files', { paths: [join(home, 'src/alias')] }],
      ['read_text_file', { path: '.env' }],
      ['read_text_file', { path: join(home, 'src/../.env') }],
      ['write_file', { path: join(home, '.env'), content: 'new' }],
      ['move_file', { source: join(home, 'src/alias'), destination: join(home, 'b') }],
    ] as const;
    for (const [name, args] of refused)
      expect(await call(name, args), JSON.stringify([name, args])).toMatch(REFUSED);
    expect(await call('search_files', { path: join(home, 'src'), pattern: '*.ts' })).toContain(
      'a.ts',
    );
    expect(await call('read_text_file', { path: 'src/a.ts' })).toBe('one');
  });

  test('a tool that declares its paths reaches no more than they say', async () => {
    const { home, call } = await before(`
  notes/directory_tree: { class: read, reads: /path, names_only: true }
  notes/search_files: { class: read, reads: /path }
  notes/read_multiple_files: { class: read, reads: /paths }
  notes/write_file: { class: reversible, writes: /path }`);
    expect(await call('directory_tree', { path: home })).toContain('a.ts');
    expect(await call('search_files', { path: home, pattern: '**/*' })).toMatch(REFUSED);
    expect(await call('read_multiple_files', { paths: [join(home, 'src/alias')] })).toMatch(
      REFUSED,
    );
    expect(await call('read_multiple_files', { paths: [join(home, 'src/a.ts')] })).toContain('one');
    const note = { path: join(home, 'src/b.ts'), content: join(home, '.env') };
    expect(await call('write_file', note)).toContain('Successfully wrote');
  });

  test('an approval is for what the call reached when it was asked for', async () => {
    const { home, call, place } = await before('{}', 'ask');
    const search = () => call('search_files', { path: home, pattern: '**/*.ts' });
    expect(await search()).toMatch(/waits for approval/);
    const [{ id }] = await place.approvals();
    await place.approve(id);
    expect(await search()).toContain('a.ts');
    expect(await search()).toMatch(/waits for approval/);
    await place.approve((await place.approvals())[0].id);
    rmSync(join(home, '.env'));
    expect(await search()).toContain('a.ts');
    expect(await place.approvals()).toEqual([]);
  });
});
