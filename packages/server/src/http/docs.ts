import { serveStatic } from '@hono/node-server/serve-static';
import type { Hono } from 'hono';
import { consoleHeaders } from './guards.ts';

const ABSENT =
  'The documentation is not installed on this server. Run `npm install @assize/docs` beside Assize, or `npm run docs` in a clone, and start the server again.\n';

/**
 * Serves the built pages of `folder` at /docs. They need no session: they are the published text.
 * Without a folder, /docs says how to install it.
 */
export function addDocs(app: Hono, folder: string | undefined): void {
  if (folder === undefined) {
    app.get('/docs/*', (context) => context.text(ABSENT, 404));
    return;
  }
  app.get('/docs', (context) => context.redirect('/docs/'));
  app.get(
    '/docs/*',
    async (context, next) => {
      await next();
      const headers = { ...consoleHeaders(), 'cache-control': 'max-age=300' };
      for (const [name, value] of Object.entries(headers)) context.header(name, value);
    },
    serveStatic({
      root: folder,
      // A link from elsewhere may leave out the end of the name.
      rewriteRequestPath: (path) => path.slice('/docs'.length).replace(/\/[\w-]+$/, '$&.html'),
      precompressed: true,
    }),
  );
}
