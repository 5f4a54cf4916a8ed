/** The pages of events, webhooks and problems, from what a server sent. */
import { block, commonCodes } from './http-pages.ts';
import type { Recording } from './recording.ts';
import { shownCurl, shownJson, shownText } from './shown-json.ts';

export function messagePages({ events, notices, problems }: Recording): Record<string, string> {
  return {
    events: eventsPage(events),
    webhooks: webhooksPage(notices),
    problems: problemsPage(problems),
  };
}

function eventsPage(events: Recording['events']): string {
  const parts = [...Map.groupBy(events, ({ name }) => name)].map(([name, all]) => {
    const shown = newMembers(all, ({ data }) => Object.keys(data));
    const blocks = shown.map(({ id, data }) => {
      const head = id === undefined ? '' : `id: ${id}\n`;
      return block('txt', `${head}event: ${name}\ndata: ${shownJson(data)}`);
    });
    return `## ${name}\n\n${blocks.join('\n\n')}`;
  });
  return `# Events

\`GET /v1/events\` sends every entry of the ledger as a server-sent event, for auditors, counselors and
administrators. The name is the kind of the entry. \`ready\` is the first event, and \`alive\` comes
where there is no entry. On the wire the data are one line; here they are several. The parameters are
in [the reference](http-principals.md#events-stream), and the guide is
[the HTTP API](../../guide/http-api.md#events). A kind has several examples where they have other
members. \`key_change\` was not recorded: trajectories with signed entries alone have it.

${parts.join('\n\n')}
`;
}

function webhooksPage(notices: Recording['notices']): string {
  const parts = [...Map.groupBy(notices, ({ body }) => body.type)].map(([type, all]) => {
    const shown = newMembers(all, ({ body }) => [body.of, `${body.outcome}`, ...Object.keys(body)]);
    const blocks = shown.map(({ body }) => block('json', shownJson(body)));
    return `## ${type}\n\n${blocks.join('\n\n')}`;
  });
  const headers = Object.entries(notices[0]?.headers ?? {})
    .filter(([name]) => /^(webhook-|content-type|user-agent)/.test(name))
    .map(([name, value]) => `${name}: ${shownText(`${value}`)}`);
  return `# Webhooks

A receiver of [notices](../../guide/notices.md) gets each of these as the body of a \`POST\`, with
these headers. The guide shows a receiver that checks the signature.

${block('http', headers.join('\n'))}

A type has several examples where they have other members. \`of\` is \`proposal\`, or \`effect\` for a call
that needs a person.

${parts.join('\n\n')}
`;
}

function problemsPage(problems: Recording['problems']): string {
  const parts = problems.map((example) => {
    const problem = JSON.parse(example.text);
    const [request, answer] = [shownCurl(example), shownJson(problem)];
    return `## ${problem.code}\n\n${block('sh', request)}\n\n${block('json', answer)}`;
  });
  return `# Problems

A refused request appends nothing. Its answer is a problem document (RFC 9457) of the type
\`application/problem+json\`. Programs branch on \`code\`; [errors](../../errors.md) says what to do about
each. \`retryable\` says whether the same request may succeed later, and then a header \`Retry-After\` may
have the seconds. \`findings\` name the wrong fields.

${parts.join('\n\n')}

## Of every operation

${commonCodes}
`;
}

/** Those that have a member that none before has. */
function newMembers<Each>(all: readonly Each[], membersOf: (one: Each) => string[]): Each[] {
  const known = new Set<string>();
  return all.filter((one) => {
    const members = membersOf(one).filter((name) => !known.has(name));
    for (const name of members) known.add(name);
    return members.length > 0 || known.size === 0;
  });
}
