import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { DidNothing } from 'assize/internal/effects';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { type MailFault, MailSink } from '../../../../tests/support/tools/mail-sink.ts';
import { crashedEverywhere, transact } from '../../../../tests/support/tools/tool-stage.ts';
import { type MailToolOptions, mailTool } from './index.ts';

const open: MailSink[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

async function sinkOf(faults: readonly MailFault[] = [], isSecret = false): Promise<MailSink> {
  const sink = await MailSink.open(faults, isSecret);
  open.push(sink);
  return sink;
}

const letter = { to: 'Ada@Example.com', subject: 'the order', text: 'It is on its way.' };

function outbox(sink: MailSink, rest: Partial<MailToolOptions> = {}) {
  return mailTool({ name: 'mail.send', from: 'shop@Shop.example', transport: sink.url, ...rest });
}

const queryable = (sink: MailSink) => outbox(sink, { sent: (id) => sink.has(id) });

const sent = (tool: ReturnType<typeof mailTool>, given: object = letter, callTimeoutMs = 5_000) =>
  transact([tool], (tx) => tx.call('mail.send', given), { callTimeoutMs });

describe('the messages that arrive, by sink and fault', () => {
  // The fault, the accepted messages and the unresolved effects: for a blind sink, and for a
  // queryable one.
  test.each<[MailFault, [number, string[]], [number, string[]]]>([
    ['none', [1, []], [1, []]],
    ['refuse', [1, []], [1, []]],
    ['later', [1, []], [1, []]],
    ['lose_before', [1, []], [1, []]],
    ['reject', [0, ['unresolved']], [0, ['unresolved']]],
    ['reject_data', [0, ['unresolved']], [0, ['unresolved']]],
    ['lose', [1, ['in_doubt']], [1, []]],
  ])('%s once', async (fault, blind, asked) => {
    for (const [make, [times, left]] of [
      [outbox, blind],
      [queryable, asked],
    ] as const) {
      const sink = await sinkOf([fault]);
      const ended = await sent(make(sink));
      expect([sink.delivered.length, ended.left.map(({ phase }) => phase)]).toEqual([times, left]);
      expect(ended.isCommitted).toBe(true);
    }
  });

  test('hanging after it was taken: it is not sent again', async () => {
    for (const [make, left] of [
      [outbox, ['in_doubt']],
      [queryable, []],
    ] as const) {
      const sink = await sinkOf(['hang']);
      const ended = await sent(make(sink), letter, 300);
      expect([sink.delivered.length, ended.left.map(({ phase }) => phase)]).toEqual([1, left]);
    }
  });

  test('hanging before it was given: nothing was sent, and it is sent once', async () => {
    for (const make of [outbox, queryable]) {
      const sink = await sinkOf(['hang_before']);
      const ended = await sent(make(sink), letter, 300);
      expect([sink.delivered.length, ended.left, sink.connections]).toEqual([1, [], 2]);
    }
  });

  test('no listener: nothing was sent', async () => {
    const sink = await MailSink.open();
    const tool = outbox(sink);
    await sink[Symbol.asyncDispose]();
    const { left } = await sent(tool);
    expect(left.map(({ phase }) => phase)).toEqual(['unresolved']);
  });
});

describe('a message', () => {
  test('leaves after the commit, and never where there is none', async () => {
    const sink = await sinkOf();
    const aborted = await transact([outbox(sink)], async (tx) => {
      await tx.call('mail.send', letter);
      throw new Error('no');
    });
    expect([aborted.isCommitted, sink.connections]).toEqual([false, 0]);
    await transact([outbox(sink)], async (tx) => {
      expect(await tx.call('mail.send', letter)).toBe(null);
      expect(sink.connections).toBe(0);
    });
    expect(sink.delivered.length).toBe(1);
  });

  test('has its given content, and a Message-ID of its key', async () => {
    const sink = await sinkOf();
    await sent(outbox(sink, { from: { name: 'The Shop', address: 'shop@Shop.example' } }), {
      ...letter,
      to: ['Ada@Example.com', 'bob@example.com'],
      bcc: 'eve@example.com',
      attachments: [{ filename: 'a.txt', content: Buffer.from('by value').toString('base64') }],
    });
    const [{ from, to, id, text }] = sink.delivered as [(typeof sink.delivered)[0]];
    expect(from).toBe('shop@shop.example');
    expect(to).toEqual(['Ada@example.com', 'bob@example.com', 'eve@example.com']);
    expect(id).toMatch(/^<[0-9a-f]{64}@shop\.example>$/);
    expect(text).toMatch(/^From: The Shop <shop@shop.example>/m);
    expect(text).toContain(Buffer.from('by value').toString('base64'));
    expect(text).not.toContain('eve@');
  });

  test('goes to the accepted recipients, and reports the rejected ones', async () => {
    const sink = await sinkOf();
    const tool = outbox(sink);
    const call = { key: 'k', signal: AbortSignal.timeout(300_000) };
    const input = tool.parse({ ...letter, cc: 'nobody@example.com' });
    expect(await tool.spec.execute(input, call, [])).toEqual({
      message_id: '<k@shop.example>',
      accepted: ['Ada@example.com'],
      rejected: ['nobody@example.com'],
    });
  });

  test.each([
    ['a line too many in its subject', { subject: 'x\r\nBcc: eve@example.com' }],
    ['a line too many in an address', { to: 'ada@example.com\nBcc: eve@example.com' }],
    ['two addresses in one', { to: 'ada@example.com, eve@example.com' }],
    ['no recipient', { to: [] }],
    ['a file', { attachments: [{ filename: 'x', path: '/etc/passwd' }] }],
    ['a folder in a name', { attachments: [{ filename: '../x', content: '' }] }],
    [
      'parts in an attachment',
      { attachments: [{ filename: 'x', content: '', contentType: 'Multipart/mixed' }] },
    ],
    ['a header of its own', { headers: { bcc: 'eve@example.com' } }],
    ['no text', { text: undefined }],
  ])('with %s is refused, and nothing is sent', async (_, change) => {
    const sink = await sinkOf();
    const { error } = await sent(outbox(sink), { ...letter, ...change });
    expect([error?.code, sink.connections]).toEqual(['bad_input', 0]);
  });

  test('writes to each mailbox by one name', async () => {
    const tool = outbox(await sinkOf());
    const of = (to: string[]) =>
      tool.claims(tool.parse({ ...letter, to })).map(({ scope }) => scope.text);
    expect(of(['Ada@Example.COM', 'ada@example.com', 'b+c@d.example'])).toEqual([
      'email:outbox:ada@example.com',
      'email:outbox:b+c@d.example',
    ]);
  });
});

/**
 * The server's answer to a line of the client, by the start of the line. `.`: the end of a message.
 */
type Script = Readonly<Record<string, string | ((socket: Socket) => void)>>;
const polite: Script = {
  EHLO: '250 sink',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  '.': '250 taken',
};

async function scripted(script: Script) {
  const said: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 sink\r\n');
    createInterface(socket).on('line', (line) => {
      said.push(line);
      const start = Object.keys(script).find((each) =>
        each === '.' ? line === each : line.startsWith(each),
      );
      const reply = start === undefined ? undefined : script[start];
      if (typeof reply === 'function') reply(socket);
      else if (reply !== undefined && socket.writable) socket.write(`${reply}\r\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const transport = { host: '127.0.0.1', port, secure: false };
  const tool = mailTool({ name: 'mail.send', from: 'shop@shop.example', transport });
  const letters = () => said.filter((line) => line === '.').length;
  return { server, tool, said, letters };
}

test('a server that never answers QUIT is disconnected anyway', async () => {
  const { server, tool, said } = await scripted(polite);
  const left = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
  expect((await sent(tool)).left).toEqual([]);
  await left;
  expect(said.at(-1)).toBe('QUIT');
  // Such a server is silent for longer than this.
}, 30_000);

describe('a reply to a message', () => {
  const bye: Script = { ...polite, QUIT: '221 bye' };

  test.each(['354 go on', '150 well', '000 zero', '999 what', '600 what', 'hello'])(
    'of %s says nothing of it: it is not sent again',
    async (reply) => {
      const { tool, letters } = await scripted({ ...bye, '.': reply });
      const { left } = await sent(tool);
      expect([letters(), left.map(({ phase }) => phase)]).toEqual([1, ['in_doubt']]);
    },
  );

  test.each([
    ['451 later', 3],
    ['554 spam', 1],
  ])('of %s refuses it', async (reply, times) => {
    const { tool, letters } = await scripted({ ...bye, '.': reply });
    const { left } = await sent(tool);
    expect([letters(), left.map(({ phase }) => phase)]).toEqual([times, ['unresolved']]);
  });

  test('refuses it also where the server ends the connection with that', async () => {
    const { tool, letters } = await scripted({
      ...bye,
      '.': (socket) => socket.end('554 spam\r\n'),
    });
    const { left } = await sent(tool);
    expect([letters(), left.map(({ phase }) => phase)]).toEqual([1, ['unresolved']]);
  });

  test.each<[string, Script]>([
    ['another', { ...bye, '.': '451 wait\r\n250 taken' }],
    [
      'another when it is taken leave of',
      { ...bye, '.': '451 wait', QUIT: '250 taken\r\n221 bye' },
    ],
    ['silence', { ...polite, '.': '451 wait' }],
  ])('that refuses and is followed by %s is ignored: it may not be final', async (_, script) => {
    const { tool, letters } = await scripted(script);
    const { left } = await sent(tool);
    expect([letters(), left.map(({ phase }) => phase)]).toEqual([1, ['in_doubt']]);
  });

  test.each([
    ['refuses', 552],
    ['takes', 250],
  ])(
    'that arrives during the transfer %s nothing, and nothing interrupts that',
    async (_, code) => {
      const early = (socket: Socket) => {
        socket.pause();
        socket.write('354 go on\r\n');
        setTimeout(() => socket.write(`${code} well\r\n`), 50);
        setTimeout(() => socket.resume(), 300);
      };
      const { server, tool, said } = await scripted({ ...bye, DATA: early });
      const left = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
      // More than the system takes in one write.
      const input = {
        ...(tool.parse(letter) as object),
        text: 'a long line of text\n'.repeat(1_000_000),
      };
      const call = { key: 'k', signal: AbortSignal.timeout(300_000) };
      const error = await Promise.resolve(tool.spec.execute(input, call, [])).catch(
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ why: `smtp_${code}` });
      expect(error).not.toBeInstanceOf(DidNothing);
      await left;
      expect([said.includes('QUIT'), said.includes('.')]).toEqual([false, false]);
    },
  );
});

describe('a password', () => {
  const auth = { user: 'shop', pass: 'right' };
  const transport = (sink: MailSink, rest: object) => ({
    host: '127.0.0.1',
    port: sink.port,
    ...rest,
  });

  test('is asked for when it is sent', async () => {
    const sink = await sinkOf([], true);
    let asked = 0;
    const tool = outbox(sink, {
      transport: async () => {
        asked++;
        return transport(sink, { auth, requireTLS: false });
      },
    });
    expect(asked).toBe(0);
    await sent(tool);
    expect([asked, sink.users, sink.delivered.length]).toEqual([1, ['shop'], 1]);
  });

  test('is not sent where nothing hides it, and a wrong one sends nothing', async () => {
    const sink = await sinkOf([], true);
    const { left } = await sent(outbox(sink, { transport: transport(sink, { auth }) }));
    expect([sink.users, left.map(({ phase }) => phase)]).toEqual([[], ['unresolved']]);
    const wrong = { auth: { ...auth, pass: 'wrong' }, requireTLS: false };
    const refused = await sent(outbox(sink, { transport: transport(sink, wrong) }));
    expect([sink.delivered.length, refused.left.map(({ phase }) => phase)]).toEqual([
      0,
      ['unresolved'],
    ]);
  });
});

describe('a crash at every step', () => {
  test.each([
    ['blind', outbox],
    ['queryable', queryable],
  ] as const)('at a %s sink: at most once, and never without a commit', async (sort, make) => {
    const seen = new Set<string>();
    await crashedEverywhere({
      open: () => MailSink.open(),
      tools: (sink) => [make(sink)],
      body: (tx) => tx.call('mail.send', letter),
      check: ({ delivered }, { isCommitted, left }) => {
        seen.add(`${isCommitted} ${left.length}`);
        if (!isCommitted || sort === 'queryable') expect(left).toEqual([]);
        expect(delivered.length).toBeLessThanOrEqual(isCommitted ? 1 : 0);
        if (isCommitted && left.length === 0) expect(delivered.length).toBe(1);
      },
    });
    expect([...seen].toSorted()).toEqual(
      sort === 'blind' ? ['false 0', 'true 0', 'true 1'] : ['false 0', 'true 0'],
    );
  });
});

test.each<[string, object, string]>([
  ['an invalid sender', { from: 'shop' }, 'from'],
  ['a sender of two lines', { from: { name: 'a\nb', address: 'a@b.example' } }, 'from'],
  ['an invalid transport', { transport: 'http://h' }, 'transport'],
  ['a transport with settings in its URL', { transport: 'smtp://h/?a=b' }, 'transport'],
  ['a transport without a host', { transport: { port: 25 } }, '/transport/host'],
  ['a transport whose password is not escaped', { transport: 'smtp://u:sesame%zz@h' }, '% is %25'],
  ['a transport whose user is not escaped', { transport: 'smtp://%sesame:p@h' }, 'transport'],
  ['an invalid name', { name: 'Mail' }, 'name'],
])('a declaration with %s is refused', (_, change, why) => {
  const sound = { name: 'mail.send', from: 'shop@shop.example', transport: 'smtp://h' };
  const error = errorOf(() => mailTool({ ...sound, ...change } as never)) as Error;
  expect(error).toMatchObject({ reason: 'invalid_tool', message: expect.stringContaining(why) });
  // The wrong value may be a password.
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('sesame');
});

test.each<[string, unknown, string]>([
  ['a URL of something else', 'http://sesame@h', '/transport: smtp://user:password@host:port'],
  ['a password that is not escaped', 'smtp://u:sesame%zz@h', '% is %25'],
  ['an invalid port', { host: 'h', port: 'sesame' }, '/transport/port'],
])('a transport that gives %s gets an error that names the problem', async (_, given, why) => {
  const tool = mailTool({
    name: 'mail.send',
    from: 'shop@shop.example',
    transport: () => given as never,
  });
  const call = { key: 'k', signal: AbortSignal.timeout(300_000) };
  const error = await Promise.resolve(tool.spec.execute(tool.parse(letter), call, [])).catch(
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: 'DidNothing', message: expect.stringContaining(why) });
  expect(inspect(error, { depth: 9 })).not.toContain('sesame');
});
