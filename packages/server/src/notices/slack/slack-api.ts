import type { SlackConfig } from 'assize/internal/config';
import { NoticeError } from '../errors.ts';

const API = 'https://slack.com/api/';
const TIMEOUT_MS = 10_000;

type Answer = Readonly<Record<string, unknown>>;

/** Calls a method of Slack's Web API. @throws NoticeError `receiver_refused`, `unreachable` */
export type SlackCall = (method: string, body: object, signal?: AbortSignal) => Promise<Answer>;

/**
 * The Web API: JSON, with the token of the bot in a header. The evidence of a refusal has Slack's
 * word for it.
 */
export function slackApi({ apiUrl = API, token }: SlackConfig): SlackCall {
  return async (method, body, signal) => {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const type = 'application/json; charset=utf-8';
    const [status, answer] = await fetch(new URL(method, apiUrl), {
      ...{ method: 'POST', redirect: 'error', body: JSON.stringify(body) },
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    })
      .then(
        async (response) => [response.status, (await response.json()) as Answer | null] as const,
      )
      .catch((error: unknown) => Promise.reject(unreachable(error as Error)));
    if (status === 200 && answer?.['ok'] === true) return answer;
    // A word of Slack's own list, such as `channel_not_found`.
    const word = /^[a-z_]{1,50}$/.exec(String(answer?.['error']))?.[0];
    const evidence = { status, reason: word ?? `status ${status}` };
    const text = `Slack refused ${method} (${evidence.reason}).`;
    throw new NoticeError('receiver_refused', text, { evidence, retryable: true });
  };
}

/** The name of the error alone: a message can repeat what a receiver wrote. */
function unreachable({ name, cause }: Error): NoticeError {
  const code = (cause as { readonly code?: string } | undefined)?.code ?? name;
  return new NoticeError(
    'unreachable',
    `Slack could not be reached (${code}). Check the network of the server.`,
    { retryable: true },
  );
}
