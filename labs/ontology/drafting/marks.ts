import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isComputedPropertyName,
  isElementAccessExpression,
  isNumericLiteral,
  isRegularExpressionLiteral,
  isStringLiteralLikeNode,
} from 'typescript/unstable/ast/is';
import { each } from './bound-names.ts';
import { Compiler } from './compiler.ts';

/** A place of a module at which a reader stops: its text alone does not say what it does. */
export interface Mark {
  /** From 1. */
  readonly line: number;
  readonly kind: 'computed key' | 'constant' | 'pattern';
  readonly source: string;
}

/** Maximum number of characters of a place that are shown. */
const SOURCE_MAX = 100;
const ORDER: ReadonlySet<SyntaxKind> = new Set([
  ...[SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken],
  ...[SyntaxKind.EqualsEqualsToken, SyntaxKind.ExclamationEqualsToken],
  ...[SyntaxKind.LessThanToken, SyntaxKind.LessThanEqualsToken],
  ...[SyntaxKind.GreaterThanToken, SyntaxKind.GreaterThanEqualsToken],
]);

/**
 * The computed keys, the regular expressions and the comparisons with a constant of a module, in
 * the order of its lines. Code that waits for one state has to recognise it by one of these.
 */
export async function marksOf(text: string): Promise<Mark[]> {
  const compiler = new Compiler();
  try {
    const file = (await compiler.compile(new Map([['module.ts', text]]))).sources.get('module.ts');
    const marks: Mark[] = [];
    if (file !== undefined)
      each(file, (node) => {
        const kind = kindOf(node);
        if (kind === undefined) return;
        const line = text.slice(0, node.getStart()).split('\n').length;
        marks.push({
          line,
          kind,
          source: node.getText().replaceAll(/\s+/g, ' ').slice(0, SOURCE_MAX),
        });
      });
    return marks;
  } finally {
    await compiler.close();
  }
}

function kindOf(node: Node): Mark['kind'] | undefined {
  if (isComputedPropertyName(node)) return 'computed key';
  if (isElementAccessExpression(node))
    return isConstant(node.argumentExpression) ? undefined : 'computed key';
  if (isRegularExpressionLiteral(node)) return 'pattern';
  if (!isBinaryExpression(node) || !ORDER.has(node.operatorToken.kind)) return undefined;
  return isConstant(node.left) || isConstant(node.right) ? 'constant' : undefined;
}

function isConstant(node: Node): boolean {
  return isNumericLiteral(node) || isStringLiteralLikeNode(node);
}
