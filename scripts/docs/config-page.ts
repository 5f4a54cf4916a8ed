import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = 'packages/assize/src/config/config.ts';
const INTERFACE =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export interface (\w+) \{\n([\s\S]*?)\n\}/g;
const MEMBER = /(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)? {2}readonly (\w+)(\??): ([\s\S]*?);$/gm;

/** The page of the members of a config, from the declarations and comments of `AssizeConfig`. */
export function configPage(root: string): string {
  const text = readFileSync(join(root, SOURCE), 'utf8');
  const found = [...text.matchAll(INTERFACE)];
  const names = found.map(([, , name = '']) => name);
  const parts = found
    .sort(
      ([, , one], [, , other]) => Number(other === 'AssizeConfig') - Number(one === 'AssizeConfig'),
    )
    .map(([, doc = '', name = '', body = '']) => {
      const rows = [...body.matchAll(MEMBER)].map(
        ([, about = '', member, optional, type = '']) =>
          `| \`${member}\`${optional === '?' ? '' : ', required'} | ${typeOf(type, names)} | ${proseOf(about)} |`,
      );
      return `## ${name}\n\n${proseOf(doc)}\n\n| member | type | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
    });
  return `# Members of a config\n\nFrom the declarations of \`defineConfig\`. The guide is [configuration](../../guide/configuration.md).\n\n${parts.join('\n')}`;
}

/** A type, with links to the types of the page. */
function typeOf(type: string, names: readonly string[]): string {
  const linked = names
    .filter((name) => new RegExp(`\\b${name}\\b`).test(type))
    .map((name) => `[${name}](#${name.toLowerCase()})`);
  const code = `\`${type.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')}\``;
  return linked.length === 0 ? code : `${code}: ${linked.join(', ')}`;
}

function proseOf(comment: string): string {
  return comment
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll('|', '\\|')
    .replaceAll(/[<{]/g, (mark) => (mark === '<' ? '&lt;' : '&#123;'));
}
