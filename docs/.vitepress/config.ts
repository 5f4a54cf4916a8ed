/**
 * The documentation as a site. docs/README.md is its first page, and the tables there make the
 * sidebar, so a page has one place in both. `npm run docs` builds it.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { defineWords } from './glossary.ts';

const docs = join(import.meta.dirname, '..');
const REPOSITORY = 'https://github.com/assize/assize';
/** Pages for those who change Assize, and declarations: a search of a user should not end there. */
const UNSEARCHED = /^(?:decisions|design)\/|^reference\/api/;
/** Examples and tables, which a search of a reference leaves out: they have words of every question. */
const EXAMPLES = /^```[\s\S]*?^```$|^\|.*$/gm;
const WORD_ROW = /^\| `?([\w ()-]+)`? \|(.*)\|$/gm;
/** Scripts of the documents, by the name of the file that replaces each. */
const scripts = new Map<string, string>();

export default defineConfig({
  title: 'Assize',
  description: 'A transactional, auditable runtime for LLM agents.',
  base: '/docs/',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // The library would add a style element, which the policy of the server's pages refuses.
  appearance: { disableTransition: false },
  markdown: {
    anchor: { slugify: asOnGitHub },
    languageAlias: { cedar: 'typescript', cedarschema: 'typescript', haproxy: 'nginx' },
    config: (md) => {
      md.set({ html: false });
      // The compiler of the pages drops a line break between two elements.
      md.renderer.rules['softbreak'] = () => ' ';
      md.core.ruler.push('outside_links', linkOutside);
      md.core.ruler.push('row_addresses', addressRows);
      md.core.ruler.push('file_names', nameFiles);
      defineWords(md, readFileSync(join(docs, 'glossary.md'), 'utf8'));
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // A function here would be evaluated from text, which the policy of the server refuses.
        miniSearch: { searchOptions: { boost: { title: 4, text: 1, titles: 2 } } },
        _render: (text, env, md) => md.render(searchedText(text, env.relativePath), env),
      },
    },
    sidebar: [
      ...sidebarOf(readFileSync(join(docs, 'README.md'), 'utf8')),
      { text: 'Generated', items: generatedItems() },
    ],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    docFooter: { prev: false, next: false },
  },
  // The policy of the server's pages allows scripts in files only.
  transformHtml: (html) =>
    html.replaceAll(/<script( id="[^"]*")?>([\s\S]*?)<\/script>/g, (_, id = '', code: string) => {
      const name = `inline.${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`;
      scripts.set(name, code);
      return `<script${id} src="/docs/assets/${name}"></script>`;
    }),
  buildEnd: ({ outDir }) => {
    mkdirSync(join(outDir, 'assets'), { recursive: true });
    for (const [name, code] of scripts) writeFileSync(join(outDir, 'assets', name), code);
  },
});

/** The text of a page that the search reads: each error code and each word is a part of its own. */
function searchedText(text: string, page: string): string {
  if (UNSEARCHED.test(page)) return '';
  if (/^(?:errors|glossary)/.test(page)) return text.replaceAll(WORD_ROW, '### $1\n\n$2\n');
  return /^reference\//.test(page) ? text.replaceAll(EXAMPLES, '') : text;
}

/** The parts of the first page, each with the pages that its table links to. A title is short there. */
function sidebarOf(readme: string): DefaultTheme.SidebarItem[] {
  return readme
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [text = ''] = part.split('\n');
      const links = [...part.matchAll(/\]\((?!\.\.|https?:)([^)#]+)\.md\)/g)];
      const items = links.map(([, link = '']) => ({
        text: titleOf(`${link}.md`).split(':')[0],
        link: `/${link.replace(/README$/, 'index')}`,
      }));
      return { text, items, collapsed: false };
    });
}

/** The pages of reference that `npm run docs` writes. */
function generatedItems(): DefaultTheme.SidebarItem[] {
  return globSync('reference/generated/*.md', { cwd: docs })
    .sort()
    .map((file) => ({
      text: titleOf(file),
      link: `/${file.replace(/\.md$/, '')}`,
    }));
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(docs, page), 'utf8'))?.[1] ?? page;
}

/** Gives the row of each code or word its address. Problem documents name those of codes. */
function addressRows(state: { tokens: any[]; env: { relativePath?: string } }): void {
  if (!/^(?:errors|glossary)/.test(state.env.relativePath ?? '')) return;
  for (const [n, token] of state.tokens.entries())
    if (token.type === 'tr_open')
      token.attrSet('id', asOnGitHub(state.tokens[n + 2]?.content ?? ''));
}

/** Shows the name of a file above its text. It is the second word after the fence. */
function nameFiles(state: { tokens: any[]; Token: new (...of: any[]) => any }): void {
  state.tokens = state.tokens.flatMap((token) => {
    const name = token.type === 'fence' ? /^\w+ ([\w./-]*\.\w+)$/.exec(token.info)?.[1] : undefined;
    if (name === undefined) return [token];
    const shown = new state.Token('html_block', '', 0);
    shown.content = `<p><code>${name}</code></p>\n`;
    return [shown, token];
  });
}

/** Gives a link to a file beside the pages its address in the repository. */
function linkOutside(state: { tokens: any[]; env: { relativePath?: string } }): void {
  for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null;
    if (href === null || /^(?:[a-z]+:|#)/.test(href)) continue;
    const path = join('docs', state.env.relativePath ?? '', '..', href.split('#')[0]);
    if (!path.startsWith('docs/') || !path.endsWith('.md'))
      token.attrSet('href', `${REPOSITORY}/blob/main/${path}`);
  }
}

/** The anchor of a heading, as links in the pages name it and the repository's host makes it. */
function asOnGitHub(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
