/** One approval lets one call through, whatever is repeated, changed, lost or concurrent. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Connecting,
  connected,
  GRACE,
  gatewayBefore,
  served,
  type Wrap,
} from '../../../../tests/support/mcp/served-gateway.ts';

const RULES = `
id: notes
trust: [notes]
tools:
  notes/add: { class: irreversible }
rules:
  - { id: quick, allow: notes/add, where: [{ path: /text, is: quick }] }
  - { id: others, ask: notes/add, where: [{ path: /text, not: quick }] }
`;

async function stage(
  given: Connecting = {},
  place_?: Awaited<ReturnType<typeof served>>,
  added: string[] = [],
) {
  const place = place_ ?? (await served(RULES));
  const serve = (transport: never) =>
    serveStdio(
      () => {
        const server = new McpServer({ name: 'notes', version: '1' });
        server.registerTool(
          'add',
          { inputSchema: z.object({ text: z.string() }) },
          async ({ text }) => {
            added.push(text);
            return { content: [{ type: 'text', text: `added ${text}` }] };
          },
        );
        return server;
      },
      { transport },
    );
  const made = await connected(place, serve as never, given);
  const add = (text: string, more: object = {}) =>
    made.client.callTool(
      { name: 'add', arguments: { text }, ...more } as never,
      { allowInputRequired: true } as never,
    );
  return { place, added, serve, add, ...made };
}

const textOf = (result: any): string => result.content.map(({ text = '' }) => text).join();
const pendingOf = (result: any): string => result.structuredContent.approval;

test('an approval is for its arguments, and a refusal ends the question', async () => {
  const { place, added, add, close } = await stage();
  const first = pendingOf(await add('one'));
  const second = pendingOf(await add('two'));
  expect(second).not.toBe(first);
  await place.approve(first);
  expect(pendingOf(await add('two'))).toBe(second);
  await place.reject(second);
  // The refused call is over. The same call is another question.
  const third = pendingOf(await add('two'));
  expect(third).not.toBe(second);
  await place.approve(third);
  expect(textOf(await add('two'))).toBe('added two');
  expect(textOf(await add('one'))).toBe('added one');
  await close();
  expect(added).toEqual(['two', 'one']);
});

test('a waiting call learns of a refusal immediately', async () => {
  const { place, added, add, close } = await stage({ limits: { waitMs: 10_000 } });
  const waiting = add('one');
  await expect.poll(async () => (await place.approvals()).length).toBe(1);
  await place.reject((await place.approvals())[0].id);
  expect(textOf(await waiting)).toContain('The call was refused');
  await close();
  expect(added).toEqual([]);
});

test('a waiting call shows progress, and is made when it is approved', async () => {
  const { place, added, client, close } = await stage({ limits: { waitMs: 20_000 } });
  const seen: unknown[] = [];
  const waiting = client.callTool(
    { name: 'add', arguments: { text: 'one' } },
    { onprogress: (progress) => seen.push(progress.message) },
  );
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThan(0);
  await place.approve((await place.approvals())[0].id);
  expect(textOf(await waiting)).toBe('added one');
  expect(seen[0]).toBe('it waits for approval');
  await close();
  expect(added).toEqual(['one']);
});

test('calls beside a pending one go on', async () => {
  const { place, added, add, close } = await stage();
  const [held, quick] = await Promise.all([add('held'), add('quick')]);
  expect(textOf(quick)).toBe('added quick');
  await place.approve(pendingOf(held));
  const ends = await Promise.all([add('held'), add('quick'), add('held')]);
  await close();
  expect(added.filter((text) => text === 'held')).toHaveLength(1);
  expect(ends.map(textOf).filter((text) => text === 'added held')).toHaveLength(1);
  expect(added.filter((text) => text === 'quick')).toHaveLength(2);
});

describe('an answer at the client', () => {
  const ELICITS = {
    asPerson: GRACE,
    client: { capabilities: { elicitation: {} }, inputRequired: { autoFulfill: false } },
  };
  const accepted = { approval: { action: 'accept', content: { approve: true } } };

  test('a replayed answer makes no second call', async () => {
    const { added, add, close } = await stage(ELICITS);
    const { requestState } = (await add('one')) as any;
    const answer = { requestState, inputResponses: accepted };
    expect(textOf(await add('one', answer))).toBe('added one');
    expect(textOf(await add('one', answer))).toContain('is not made again: ');
    await close();
    expect(added).toEqual(['one']);
  });

  test('two equal concurrent answers make one call', async () => {
    const { added, add, close } = await stage(ELICITS);
    const { requestState } = (await add('one')) as any;
    const answer = { requestState, inputResponses: accepted };
    await Promise.all([add('one', answer), add('one', answer)]);
    await close();
    expect(added).toEqual(['one']);
  });

  test('a call that needs two people is not asked at the client', async () => {
    const place = await served(RULES.replace('ask: notes/add,', 'ask: notes/add, approvals: 2,'));
    const { added, add, close } = await stage(ELICITS, place);
    expect(pendingOf(await add('one'))).toBe((await place.approvals())[0].id);
    await close();
    expect(added).toEqual([]);
  });

  test('an answer counts for no other arguments, and a forged one for none', async () => {
    const { place, added, add, close } = await stage(ELICITS);
    const { requestState } = (await add('one')) as any;
    expect(textOf(await add('two', { requestState, inputResponses: accepted }))).toContain(
      'other arguments',
    );
    await expect(
      add('one', { requestState: `${requestState}x`, inputResponses: accepted }),
    ).rejects.toThrow();
    expect(await place.approvals()).toHaveLength(1);
    const declined = { approval: { action: 'decline' } };
    expect(textOf(await add('one', { requestState, inputResponses: declined }))).toContain(
      'was refused',
    );
    expect(textOf(await add('one', { requestState, inputResponses: accepted }))).toContain(
      'was refused',
    );
    await close();
    expect(added).toEqual([]);
  });

  test('a client of 2025 is asked by a request of its own', async () => {
    const { added, client, add, close } = await stage({ ...ELICITS, era: 'legacy' });
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { approve: asked.length === 1 } };
    });
    expect(textOf(await add('one'))).toBe('added one');
    expect(textOf(await add('two'))).toContain('was refused');
    expect(asked[0]).toContain('"text": "one"');
    await close();
    expect(added).toEqual(['one']);
  });

  test('without a named person the client is not asked', async () => {
    const { add, close } = await stage({ client: ELICITS.client });
    expect((await add('one')).structuredContent).toMatchObject({ status: 'pending' });
    await close();
  });
});

/** Loses every answer to requests whose body has the text, after the server has acted. */
function losing(text: string): { readonly wrap: Wrap; stop(): void } {
  let isOn = true;
  return {
    wrap: (ask) => async (path, init) => {
      const answer = await ask(path, init);
      if (isOn && String(init.body ?? '').includes(text)) throw new TypeError('fetch failed');
      return answer;
    },
    stop: () => {
      isOn = false;
    },
  };
}

describe('lost answers', () => {
  test('a call whose ruling is lost is not made, and in doubt', async () => {
    const lost = losing('"action":"call"');
    const { added, add, close } = await stage({ wrap: lost.wrap });
    expect(textOf(await add('quick'))).toContain('Nothing was called');
    lost.stop();
    expect(textOf(await add('quick'))).toContain('is not made again');
    await close();
    expect(added).toEqual([]);
  });

  test('a call whose beginning is lost is not made, and in doubt', async () => {
    const lost = losing('"action":"begin"');
    const { place, added, add, close } = await stage({ wrap: lost.wrap });
    await place.approve(pendingOf(await add('one')));
    expect(textOf(await add('one'))).toContain('Nothing was called');
    lost.stop();
    expect(textOf(await add('one'))).toContain('is not made again');
    await close();
    expect(added).toEqual([]);
  });

  test('a report whose answer is lost is sent again, and recorded once', async () => {
    let losses = 2;
    const wrap: Wrap = (ask) => async (path, init) => {
      const answer = await ask(path, init);
      if (!String(init.body ?? '').includes('"action":"report"') || losses-- <= 0) return answer;
      throw new TypeError('fetch failed');
    };
    const { place, added, add, close } = await stage({ wrap });
    expect(textOf(await add('quick'))).toBe('added quick');
    await close();
    expect(added).toEqual(['quick']);
    expect(Object.values((await place.state()).calls)).toMatchObject([{ outcome: 'done' }]);
  });

  test('a report that never arrives leaves the call in doubt for every gateway', async () => {
    const wrap: Wrap = (ask) => async (path, init) => {
      if (String(init.body ?? '').includes('"action":"report"'))
        throw new TypeError('fetch failed');
      return ask(path, init);
    };
    const { place, added, add, warnings, close } = await stage({ wrap });
    expect(textOf(await add('quick'))).toBe('added quick');
    expect(textOf(await add('quick'))).toContain('is not made again');
    await close();
    expect(warnings.join()).toContain('it is in doubt');
    const next = await stage({}, place, added);
    expect(textOf(await next.add('quick'))).toContain('is not made again');
    await next.close();
    expect(added).toEqual(['quick']);
  });

  test('a call whose start is answered without a ruling is not made', async () => {
    const answers: unknown[] = ['<html>', {}];
    const wrap: Wrap = (ask) => async (path, init) => {
      if (!String(init.body ?? '').includes('"action":"begin"')) return ask(path, init);
      const answer = answers.shift();
      return {
        ok: true,
        status: 200,
        json: async () => (typeof answer === 'string' ? JSON.parse(answer) : answer),
      };
    };
    const { place, added, add, close } = await stage({ wrap });
    await place.approve(pendingOf(await add('one')));
    expect(textOf(await add('one'))).toContain('without a JSON document');
    expect(textOf(await add('one'))).toContain('answered without a ruling');
    await close();
    expect(added).toEqual([]);
  });

  test('a report without an end keeps no other call from being made', async () => {
    const hung = Promise.withResolvers<never>();
    const wrap: Wrap = (ask) => async (path, init) =>
      String(init.body ?? '').includes('"action":"report"') ? hung.promise : ask(path, init);
    const { place, added, add, warnings, close } = await stage({ wrap });
    expect(textOf(await add('quick'))).toBe('added quick');
    expect(pendingOf(await add('one'))).toBe((await place.approvals())[0].id);
    expect(warnings.join()).toContain('it is in doubt: no answer came in 3 seconds');
    expect(textOf(await add('quick'))).toContain('is not made again');
    hung.reject(new Error('cut'));
    await close();
    expect(added).toEqual(['quick']);
  });

  test('a call in doubt is for a person, and names no way for the agent', async () => {
    const lost = losing('"action":"call"');
    const { add, close } = await stage({ wrap: lost.wrap });
    await add('quick');
    lost.stop();
    const text = textOf(await add('quick'));
    expect(text).toMatch(
      /a token of that person: assize api calls\.settle --trajectory calls --call \S+ --body/,
    );
    expect(text).not.toContain('proposals.create');
    await close();
  });

  test('an approval outlives the gateway that asked', async () => {
    const first = await stage();
    const approval = pendingOf(await first.add('one'));
    await first.close();
    await first.place.approve(approval);
    const second = await stage(
      { gateway: gatewayBefore(first.place, first.serve as never) },
      first.place,
      first.added,
    );
    expect(textOf(await second.add('one'))).toBe('added one');
    await second.close();
    expect(first.added).toEqual(['one']);
  });
});
