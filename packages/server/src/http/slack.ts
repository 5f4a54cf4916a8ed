import { createHmac, timingSafeEqual } from 'node:crypto';
import { hash, ServerError } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { instantToMillis } from 'assize/internal/canon';
import type { Hono } from 'hono';
import { z } from 'zod';
import { shown, TEXT_MAX } from '../notices/said.ts';
import type { SlackCards } from '../notices/slack/slack-cards.ts';
import {
  APPROVE,
  mayPress,
  plain,
  REASON,
  REJECT,
  reasonForm,
} from '../notices/slack/slack-message.ts';
import { decideOne, type OneDecision } from '../operations/approvals.ts';
import { problemOf } from '../problems/problem.ts';
import { type AppParts, requireKind } from './app.ts';
import { bytesOf } from './requests/body.ts';
import { accountOf } from './requests/charged-body.ts';
import { requestIdOf } from './requests/headers.ts';

/** Slack's limit of the difference between the time of a request and the clock. */
const SKEW_SECONDS = 300;

/** The value of a text of JSON. Another text is undefined. */
function jsonText<T extends z.ZodType>(form: T) {
  return z.preprocess((text) => {
    try {
      return JSON.parse(String(text));
    } catch {
      return undefined;
    }
  }, form);
}

const boundForm = z.object({ approval: hash, digest: hash });
const keptForm = z.object({
  bound: boundForm,
  message: z.object({ channel: z.string(), ts: z.string() }),
});
const reasonText = z.object({ value: z.string().min(1).max(4_096) });
const byForm = {
  user: z.object({ id: z.string(), team_id: z.string().optional() }),
  team: z.object({ id: z.string() }).nullish(),
};
const buttonForm = z.object({ action_id: z.enum([APPROVE, REJECT]), value: jsonText(boundForm) });

/** The parts of Slack's payloads: a button of a card, and the form that asks for a reason. */
const payloadForm = jsonText(
  z.discriminatedUnion('type', [
    z.object({
      ...{ type: z.literal('block_actions'), ...byForm, trigger_id: z.string() },
      container: z.object({ channel_id: z.string(), message_ts: z.string() }),
      actions: z.tuple([buttonForm], z.unknown()),
    }),
    z.object({
      ...{ type: z.literal('view_submission'), ...byForm },
      view: z.object({
        callback_id: z.literal(REASON),
        private_metadata: jsonText(keptForm),
        state: z.object({ values: z.object({ reason: z.object({ reason: reasonText }) }) }),
      }),
    }),
  ]),
);

/** A button of a card that a person pressed. */
interface Click extends z.output<typeof keptForm> {
  readonly user: string;
  readonly team: string;
  /** Absent: the person is asked for a reason first. */
  readonly decision?: OneDecision;
  readonly trigger?: string;
}

/**
 * Adds `POST /v1/chat/slack`. Slack sends the buttons of cards there. A signed request is
 * acknowledged immediately, and then decided as its person. Returns a function that resolves when
 * the decisions in progress have ended.
 */
export function addSlack(app: Hono, parts: AppParts, cards: SlackCards): () => Promise<void> {
  const { service, limits, logger } = parts;
  const { signingSecret } = cards.config;
  const deciding = new Set<Promise<void>>();
  if (signingSecret === undefined) return async () => undefined;
  app.post('/v1/chat/slack', async (context) => {
    const request = context.req.raw;
    const seconds = Math.floor(instantToMillis(service.clock.now()) / 1_000);
    const timestamp = request.headers.get('x-slack-request-timestamp') ?? '';
    if (!/^\d{1,12}$/.test(timestamp) || Math.abs(seconds - Number(timestamp)) > SKEW_SECONDS)
      throw unsigned();
    const body = await bytesOf(request, limits.bodyBytes, 'bodyBytes');
    const signed = Buffer.concat([Buffer.from(`v0:${timestamp}:`), body]);
    const signature = request.headers.get('x-slack-signature') ?? '';
    if (!isSigned([signingSecret].flat(), signed, signature)) throw unsigned();
    const click = clickIn(Buffer.from(body).toString());
    if (click !== undefined) {
      const work = answer(click, parts, cards)
        .catch((error: unknown) => logger.failure(requestIdOf(request), error))
        .finally(() => deciding.delete(work));
      deciding.add(work);
    }
    return context.body(null, 200);
  });
  return async () => void (await Promise.all(deciding));
}

/** Whether the signature is that of the bytes with one of the secrets. */
function isSigned(secrets: readonly string[], signed: Uint8Array, given: string): boolean {
  const other = Buffer.from(given);
  return secrets.some((secret) => {
    const own = Buffer.from(`v0=${createHmac('sha256', secret).update(signed).digest('hex')}`);
    return own.length === other.length && timingSafeEqual(own, other);
  });
}

/** Undefined for a payload of another kind. */
function clickIn(body: string): Click | undefined {
  const { data } = payloadForm.safeParse(new URLSearchParams(body).get('payload'));
  if (data === undefined) return undefined;
  const by = { user: data.user.id, team: data.user.team_id ?? data.team?.id ?? '' };
  if (data.type === 'view_submission') {
    const { private_metadata: kept, state } = data.view;
    return {
      ...by,
      ...kept,
      decision: { decision: 'reject', reason: state.values.reason.reason.value },
    };
  }
  const { container, trigger_id: trigger, actions } = data;
  const [{ action_id, value: bound }] = actions;
  const message = { channel: container.channel_id, ts: container.message_ts };
  const click = { ...by, bound, message, trigger };
  return action_id === APPROVE ? { ...click, decision: { decision: 'approve' } } : click;
}

/** Decides as the person of a click, or says to that person alone why not. */
async function answer(click: Click, parts: AppParts, cards: SlackCards): Promise<void> {
  const { service, addresses, authenticator, limiter } = parts;
  const { user, team, bound, message, decision, trigger } = click;
  const row = await service.store.resolve(bound.approval);
  if (row?.kind !== 'pending_approval') return;
  try {
    const caller = await authenticator.callerBy({ kind: 'slack', text: `${team}/${user}` });
    requireKind(caller, ['counselor']);
    // Counts the click alone: Slack has its answer already.
    limiter.enter(accountOf(caller))();
    if (decision === undefined) {
      const view = reasonForm(JSON.stringify({ bound, message }));
      await cards.call('views.open', { trigger_id: trigger, view });
      return;
    }
    const { card } = await cards.progressOf(row);
    if (decision.decision === 'approve' && !mayPress(card, cards.config))
      throw new ServerError('forbidden', 'This is decided on the page alone.');
    const { approval: id, digest } = bound;
    await decideOne({ caller, service }, { ...decision, id, digest });
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    const { detail } = problemOf(service.deployment?.explained(error) ?? error);
    const page = `${addresses.origin}/inbox/${bound.approval}`;
    const link = { type: 'mrkdwn', text: `<${page}|Open the page>` };
    const blocks = [
      { type: 'section', text: plain(shown(detail, TEXT_MAX)) },
      { type: 'context', elements: [link] },
    ];
    const text = 'Nothing was decided.';
    await cards.call('chat.postEphemeral', { channel: message.channel, user, text, blocks });
  }
  await cards.show(row, undefined, message);
}

function unsigned(): ServerError {
  return new ServerError(
    'unauthenticated',
    'The request has no valid signature of Slack, or is older than five minutes. Check `notices.slack.signingSecret`, and the clock of the server.',
  );
}
