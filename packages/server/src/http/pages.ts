import { randomBytes } from 'node:crypto';
import { thrownText } from 'assize/internal/base';
import { securityHeaders } from './guards.ts';

/** Signs in with the code of the link. The code is in the fragment, which browsers do not send. */
const signInScript = (way: SignInWay): string => `
const say = (text) => { document.querySelector('p').textContent = text; };
const code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
if (code === '') say('The link has no code. ${linkAdvice(way)}');
else fetch('/v1/session', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }),
}).then(async (answer) => {
  if (answer.ok) location.replace('/');
  else say((await answer.json()).detail);
}).catch(() => say('The server does not answer. Load the page again.'));
`;

const STYLE = 'body{font:16px/1.5 system-ui;margin:3rem auto;max-width:40rem;padding:0 1rem}';

/** The page of a sign-in link. */
export function signInPage(way: SignInWay): Response {
  return page('Sign in', '<h1>Assize</h1><p>Signing in…</p>', signInScript(way));
}

/** The advice of the start page. */
const WAYS: Readonly<Record<SignInWay, string>> = {
  oidc: '<a href="/sign-in/oidc">Sign in</a>, or use a link of <code>assize token sign-in NAME</code>',
  link: 'Use a link of <code>assize token sign-in NAME</code>',
  start: 'Use a link that the server printed at its start',
};

/** The start page. It has no script. */
export function startPage(principal: string | undefined, way: SignInWay): Response {
  const who =
    principal === undefined
      ? `<p>Not signed in. ${WAYS[way]}.</p>`
      : `<p>Signed in as <b>${escaped(principal)}</b>.</p><ul>
<li><a href="/v1/approvals">/v1/approvals</a>: proposals that wait for a decision</li>
<li><a href="/v1/trajectories">/v1/trajectories</a>: the trajectories</li>
<li><a href="/v1/effects?all=true">/v1/effects</a>: tool calls</li>
<li><a href="/openapi.json">/openapi.json</a>: the whole API</li></ul>`;
  return page('Assize', `<h1>Assize</h1>${who}`);
}

/** The page of a sign-in that failed, with the status and the headers of its problem. */
export function faultPage(error: unknown, { status, headers }: Response): Response {
  const detail = status < 500 ? thrownText(error) : 'The server failed. Its log has the reason.';
  const shown = page(
    'Not signed in',
    `<h1>Not signed in</h1><p>${escaped(detail)}</p><p><a href="/">Begin again</a></p>`,
  );
  for (const [name, value] of headers) if (name !== 'content-type') shown.headers.set(name, value);
  return new Response(shown.body, { status, headers: shown.headers });
}

function page(title: string, body: string, script?: string): Response {
  const nonce = randomBytes(16).toString('base64');
  const code = script === undefined ? '' : `<script nonce="${nonce}">${script}</script>`;
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style nonce="${nonce}">${STYLE}</style>${body}${code}</html>\n`;
  return new Response(text, {
    headers: { ...securityHeaders(nonce), 'content-type': 'text/html; charset=utf-8' },
  });
}

/** A principal's name may come from claims. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

/**
 * The way of people to a session: a provider, a link of the command line, or a link that the start
 * of the server printed.
 */
export type SignInWay = 'oidc' | 'link' | 'start';

/** The remedy for a person whose link signs in no more. */
export function linkAdvice(way: SignInWay): string {
  return way === 'start'
    ? 'Stop the server and start it again: it prints new links.'
    : 'Create one with: assize token sign-in NAME.';
}
