import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '../../card/card.ts';
import { mailText } from '../mail/mail-notices.ts';
import { teamsMessage } from '../teams/teams-card.ts';
import { mayPress, messageOf } from './slack-message.ts';

const hash = 'a'.repeat(64);
const config = { token: 't', channel: 'C0', signingSecret: 'a-secret-of-24-characters' };

const nasty = fc.string({
  unit: fc.constantFrom('a', '<', '>', '&', '|', '\u202e', '\u{e0041}', '\n', '[', '](', '\ud83d'),
  maxLength: 3_000,
});

const cards = (text: fc.Arbitrary<string>): fc.Arbitrary<Card> =>
  fc.array(text, { minLength: 10, maxLength: 10 }).map((texts) => {
    const [title, effect, by, requester, detail, rule, channel, trajectory_id] = texts as string[];
    return {
      ...{ id: hash, digest: hash, of: 'proposal', seq: 1, page: `/inbox/${hash}` },
      ...{ at: '2026-06-05T00:00:00.000000Z', is_gated: false, approvals: 2, approved_by: texts },
      ...{ role: { name: 'clerk', params: {} }, may_decide: false, action: 'pay' },
      ...{ title, effect, requester, detail, rule, channel, trajectory_id },
      undo: { can: true, by },
      fields: Array.from({ length: 40 }, (_, n) => ({ at: `/${n}`, label: by, text: detail })),
    } as Card;
  });

test('any card is within the limits of Slack, and its texts are plain', () => {
  fc.assert(
    fc.property(cards(nasty), (card) => {
      const progress = { request: hash, pendingId: hash, card };
      const { text, blocks } = messageOf(progress, 'https://a.example/inbox/1', config);
      expect(text.replaceAll(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[<>&\n]/);
      expect(blocks.length).toBeLessThanOrEqual(50);
      for (const { type, text: said, limit } of textsIn(blocks)) {
        if (type === 'mrkdwn') expect(said).toBe('<https://a.example/inbox/1|More>');
        expect(said.length).toBeLessThanOrEqual(limit);
        expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }
    }),
    { numRuns: 30 },
  );
});

test('any card in Teams is runs of text without Markdown', () => {
  fc.assert(
    fc.property(cards(nasty), fc.constantFrom('', 'It ends soon.'), (card, reminded) => {
      const { attachments } = JSON.parse(teamsMessage(card, 'https://a.example/1', reminded));
      const { body, actions } = attachments[0].content;
      for (const { type, inlines } of body) {
        expect(type).toBe('RichTextBlock');
        for (const run of inlines) expect(run.type).toBe('TextRun');
      }
      expect(actions).toEqual([
        { type: 'Action.OpenUrl', title: 'Decide on the page', url: 'https://a.example/1' },
      ]);
    }),
    { numRuns: 30 },
  );
});

test('a name that is read from right to left stays isolated in each notice', () => {
  const title = 'Pay \u2068דנה\u2069 €5.00';
  const effect = `${title} immediately.`;
  fc.assert(
    fc.property(cards(nasty), (one) => {
      const card = { ...one, title, effect };
      const url = 'https://a.example/1';
      const mail = mailText(card, url);
      expect(mail.subject).toContain(title);
      const progress = { request: hash, pendingId: hash, card };
      for (const said of [
        mail.text,
        JSON.stringify(messageOf(progress, url, config)),
        teamsMessage(card, url, ''),
      ])
        expect(said.split(title).length, said).toBeGreaterThan(2);
    }),
    { numRuns: 30 },
  );
});

test('a button decides an amount up to the limit of its currency', () => {
  const amount = fc.record({
    currency: fc.constantFrom('EUR', 'USD'),
    minor: fc.integer({ min: -500, max: 500 }),
  });
  fc.assert(
    fc.property(cards(fc.constant('x')), amount, fc.nat(500), (card, amount, most) => {
      const one = { ...card, fields: [{ at: '/a', label: 'a', text: 'a', amount }] };
      const isSmall = amount.currency === 'EUR' && Math.abs(amount.minor) <= most;
      expect(mayPress(one, { ...config, amounts: { EUR: most } })).toBe(isSmall);
      expect(mayPress(one, config)).toBe(true);
      const unread = { at: '/b', label: 'b', text: '9000.00 eur', unread: true } as const;
      const limits = { ...config, amounts: { EUR: 500, USD: 500 } };
      expect(mayPress(one, limits)).toBe(true);
      expect(mayPress({ ...one, fields: [...one.fields, unread] }, limits)).toBe(false);
      expect(mayPress({ ...one, fields: [] }, limits)).toBe(false);
      expect(mayPress({ ...one, undo: { can: false } }, config)).toBe(false);
      expect(mayPress({ ...one, of: 'effect' }, config)).toBe(false);
    }),
  );
});

/** Each text of a message with the most characters that Slack takes there. */
function textsIn(blocks: readonly any[]): { type: string; text: string; limit: number }[] {
  return blocks.flatMap((block) => {
    const at = (text: any, limit: number) => ({ ...text, limit });
    const { text, fields = [], elements = [] } = block;
    return [
      ...(text === undefined ? [] : [at(text, 3_000)]),
      ...fields.map((one: any) => at(one, 2_000)),
      ...elements.flatMap((one: any) => {
        if (one.type !== 'button') return at(one, 3_000);
        const { confirm } = one;
        const dialog = confirm === undefined ? [] : [at(confirm.title, 100), at(confirm.text, 300)];
        return [at(one.text, 75), ...dialog];
      }),
    ];
  });
}
