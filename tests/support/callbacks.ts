import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly [member: string]: unknown;
}

/**
 * The function members of the interfaces in some files of the core, as `Interface.member`. So a new
 * callback is seen without a list of names. A type alias of a function counts with its own name.
 */
export function callbacksOf(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const path = join(import.meta.dirname, '../../packages/assize/src', file);
    const { body } = parseAst(readFileSync(path, 'utf8'), { lang: 'ts' }, path) as unknown as {
      body: readonly Node[];
    };
    return body.flatMap((statement) => {
      const declared = (statement['declaration'] ?? statement) as Node;
      const { name } = (declared['id'] ?? {}) as { name?: string };
      if (declared.type === 'TSTypeAliasDeclaration')
        return hasFunction(declared['typeAnnotation']) ? [`${name}`] : [];
      if (declared.type !== 'TSInterfaceDeclaration') return [];
      const members = (declared['body'] as { body: readonly Node[] }).body;
      return members.flatMap((member) => {
        const isFunction =
          member.type === 'TSMethodSignature' ||
          (member.type === 'TSPropertySignature' &&
            hasFunction((member['typeAnnotation'] as Node | undefined)?.['typeAnnotation']));
        return isFunction ? [`${name}.${(member['key'] as Node).name}`] : [];
      });
    });
  });
}

/** A function type, or a union that has one. */
function hasFunction(type: unknown): boolean {
  const { type: kind, types, typeAnnotation } = type as Node;
  if (kind === 'TSFunctionType') return true;
  if (kind === 'TSParenthesizedType') return hasFunction(typeAnnotation);
  return kind === 'TSUnionType' && (types as readonly unknown[]).some(hasFunction);
}
