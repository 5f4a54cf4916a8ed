import { randomBytes } from 'node:crypto';
import type { Problem } from '../problems/problem.ts';
import { securityHeaders } from './guards.ts';

const NOT_SIGNED_IN = 'Not signed in';

/**
 * Signs in with the code of the link. The code is in the fragment: browsers do not send it. The
 * answer to a code that signs in no one is the page of that fault. This page then shows it.
 */
const SIGN_IN_SCRIPT = `
const code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
fetch('/v1/session', {
  method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/html' },
  body: JSON.stringify({ code }),
}).then(async (answer) => {
  if (answer.ok) return location.replace('/');
  const fault = await answer.text();
  const at = fault.indexOf('<h1>');
  if (at < 0) throw new Error('Not an answer of this server');
  document.title = '${NOT_SIGNED_IN}';
  document.querySelector('main').innerHTML = fault.slice(at);
}).catch(() => {
  document.querySelector('p').textContent = 'The server does not answer. Open the link again.';
});
`;

const STYLE =
  'body{font:16px/1.5 system-ui;margin:3rem auto;max-width:40rem;padding:0 1rem}dt{font-weight:600;margin-top:1rem}dd{margin:0;overflow-wrap:anywhere}';

/** The page of a sign-in link. */
export function signInPage(): Response {
  return page('Sign in', '<h1>Assize</h1><p role="status">Signing in…</p>', SIGN_IN_SCRIPT);
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

/**
 * The page of a sign-in that failed, with the status and the headers of its problem. The detail of
 * a problem says what failed, then what to do.
 */
export function faultPage(problem: Problem, { status, headers }: Response): Response {
  const { detail, request_id: id = '' } = problem;
  const end = `${detail} `.indexOf('. ') + 1;
  const shown = page(
    NOT_SIGNED_IN,
    `<h1>${NOT_SIGNED_IN}</h1><dl><dt>What failed</dt><dd>${escaped(detail.slice(0, end))}</dd>
<dt>What to do</dt><dd>${escaped(detail.slice(end))} <a href="/">Begin again</a></dd>
<dt>Whom to ask</dt><dd>The person who runs this server. Its log has the reason under the request ID <code>${escaped(id)}</code>.</dd></dl>`,
  );
  for (const [name, value] of headers) if (name !== 'content-type') shown.headers.set(name, value);
  return new Response(shown.body, { status, headers: shown.headers });
}

function page(title: string, body: string, script?: string): Response {
  const nonce = randomBytes(16).toString('base64');
  const code = script === undefined ? '' : `<script nonce="${nonce}">${script}</script>`;
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style nonce="${nonce}">${STYLE}</style><main>${body}</main>${code}</html>\n`;
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
    ? 'The server printed a command that makes a new link: npx assize token sign-in NAME.'
    : 'Ask an administrator for a new one: assize token sign-in NAME.';
}
