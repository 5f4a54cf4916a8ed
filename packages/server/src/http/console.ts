import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import type { ConsoleFiles } from './console-files.ts';
import { consoleHeaders } from './guards.ts';
import type { SignInWay } from './pages.ts';

/** The pages of the console. All have the same document; it shows the page of its address. */
const NAMES = [
  'inbox',
  'activity',
  'timeline',
  'what-if',
  'effects',
  'memory',
  'agents',
  'audit',
  'incidents',
  'needs',
  'rules',
];
const PAGES = ['/', ...NAMES.flatMap((name) => [`/${name}`, `/${name}/*`])];

/** The name of a file has a hash of its content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Adds the pages of the console and their files. Its data comes from the API, with a session. */
export function addConsole(app: Hono, files: ConsoleFiles, signIn: SignInWay): void {
  for (const page of PAGES) app.get(page, ({ req }) => documentOf(files, signIn, req.path, 200));
  app.get('/assets/:name', (context) => {
    const file = files.file(context.req.param('name'));
    if (file === undefined) return context.notFound();
    const takesBrotli = /\bbr\b/.test(context.req.header('accept-encoding') ?? '');
    const isSmall = takesBrotli && file.brotli !== undefined;
    const body = isSmall ? file.brotli : file.body;
    return new Response(new Uint8Array(body), {
      headers: {
        ...consoleHeaders(),
        'content-type': file.type,
        'cache-control': FOR_EVER,
        vary: 'accept-encoding',
        ...(isSmall && { 'content-encoding': 'br' }),
      },
    });
  });
}

/**
 * Adds the answer to a browser at an address that no other route has: that there is no such page,
 * with the navigation. Call it after all other routes.
 */
export function addUnknownPage(app: Hono, files: ConsoleFiles, signIn: SignInWay): void {
  app.get('*', async (context, next) => {
    const looksForPage = /\btext\/html\b/.test(context.req.header('accept') ?? '');
    return looksForPage && !context.req.path.startsWith('/v1/')
      ? documentOf(files, signIn, context.req.path, 404)
      : next();
  });
}

function documentOf(
  files: ConsoleFiles,
  signIn: SignInWay,
  path: string,
  status: 200 | 404,
): Response {
  const nonce = randomBytes(16).toString('base64');
  const headers = { ...consoleHeaders(nonce), 'content-type': 'text/html; charset=utf-8' };
  return new Response(files.page({ nonce, signIn, name: path.split('/')[1] ?? '' }), {
    status,
    headers,
  });
}
