/** Shows the meaning of a glossary word where a page first uses it. */

interface Token {
  type: string;
  content: string;
  children: Token[] | null;
}
interface State {
  readonly tokens: Token[];
  readonly env: { readonly relativePath?: string };
}
interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: any) => void): void } };
  readonly utils: { escapeHtml(text: string): string };
}

/**
 * Adds the rule. Only words that Assize gives its own meaning are marked: those whose word in the
 * field, the third column of the glossary, is another.
 */
export function defineWords(md: Markdown, glossary: string): void {
  const meanings = meaningsOf(glossary);
  const words = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`\\b(${words.join('|')})(?=s?\\b)`, 'gi');
  md.core.ruler.push('glossary', ({ tokens, env }: State) => {
    if (/glossary|^(?:index|README)/.test(env.relativePath ?? '')) return;
    const seen = new Set<string>();
    tokens.forEach((token, n) => {
      if (token.children === null || tokens[n - 1]?.type !== 'paragraph_open') return;
      let links = 0;
      for (const child of token.children) {
        if (child.type === 'link_open') links++;
        if (child.type === 'link_close') links--;
        if (child.type !== 'text' || links > 0) continue;
        const html = md.utils.escapeHtml(child.content).replace(pattern, (word) => {
          const key = word.toLowerCase();
          if (seen.has(key)) return word;
          seen.add(key);
          return `<abbr title="${md.utils.escapeHtml(meanings.get(key) ?? '')}">${word}</abbr>`;
        });
        if (html.includes('<abbr')) Object.assign(child, { type: 'html_inline', content: html });
      }
    });
  });
}

function meaningsOf(glossary: string): Map<string, string> {
  const rows = [...glossary.matchAll(/^\| ([a-z -]+?)(?: \([a-z ]+\))? \| (.+?) \| (.*?) \|/gm)];
  return new Map(
    rows
      .filter(([, word, , field]) => word !== 'word' && field !== '' && word !== field)
      .map(([, word = '', meaning = '']) => [word, plain(meaning)]),
  );
}

/** A meaning without the marks of Markdown and of the papers. */
function plain(meaning: string): string {
  return meaning
    .replaceAll(/\*\*[RAT]\*\*/g, '')
    .replaceAll(/[*`]/g, '')
    .trim();
}
