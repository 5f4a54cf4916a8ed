import { type Node, NodeFlags, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isComputedPropertyName,
  isElementAccessExpression,
  isExpressionStatement,
  isForOfStatement,
  isIdentifier,
  isNewExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSourceFile,
  isStringLiteralLikeNode,
  isTypeOfExpression,
  isVariableDeclarationList,
} from 'typescript/unstable/ast/is';
import { type Sort, TAKEN } from './allowed-names.ts';
import {
  arrowFault,
  calleeFault,
  identifierFault,
  keyFault,
  memberFault,
  readFault,
  shown,
  typeofFault,
} from './allowed-uses.ts';
import { assignedIn, boundNames, each } from './bound-names.ts';

/** The kinds of syntax that a fragment may consist of, in addition to operators and punctuation. */
const SYNTAX: ReadonlySet<SyntaxKind> = new Set(
  [
    ...'ArrowFunction Parameter Block VariableStatement VariableDeclarationList VariableDeclaration'.split(
      ' ',
    ),
    ...'ObjectBindingPattern ArrayBindingPattern BindingElement OmittedExpression Identifier'.split(
      ' ',
    ),
    ...'ReturnStatement IfStatement ForOfStatement ForStatement WhileStatement DoStatement BreakStatement'.split(
      ' ',
    ),
    ...'ContinueStatement ThrowStatement ExpressionStatement EmptyStatement SwitchStatement CaseBlock CaseClause'.split(
      ' ',
    ),
    ...'DefaultClause CallExpression NewExpression PropertyAccessExpression ElementAccessExpression'.split(
      ' ',
    ),
    ...'BinaryExpression PrefixUnaryExpression PostfixUnaryExpression ConditionalExpression'.split(
      ' ',
    ),
    ...'ParenthesizedExpression ObjectLiteralExpression PropertyAssignment ShorthandPropertyAssignment'.split(
      ' ',
    ),
    ...'SpreadAssignment SpreadElement ArrayLiteralExpression TemplateExpression TemplateHead TemplateMiddle'.split(
      ' ',
    ),
    ...'TemplateTail TemplateSpan NoSubstitutionTemplateLiteral NumericLiteral StringLiteral TrueKeyword'.split(
      ' ',
    ),
    ...'FalseKeyword NullKeyword RegularExpressionLiteral DeleteExpression NonNullExpression'.split(
      ' ',
    ),
    ...'ComputedPropertyName TypeOfExpression'.split(' '),
    ...'ArrayType TypeReference StringKeyword NumberKeyword BooleanKeyword UndefinedKeyword'.split(
      ' ',
    ),
    ...'UnionType LiteralType TypeLiteral PropertySignature TypeOperator ReadonlyKeyword TupleType'.split(
      ' ',
    ),
    ...'ParenthesizedType VoidKeyword'.split(' '),
  ].map((name) => SyntaxKind[name as keyof typeof SyntaxKind]),
);

/** The source of the one expression of a parsed fragment, or its first fault. */
export type Allowed = { readonly source: string } | { readonly fault: string };

/** The text of a file that has the fragment as its only statement. */
export function fragmentFile(source: string): string {
  return `(\n${source}\n);\n`;
}

/**
 * Whether a fragment is one expression of the sort that its hole takes, and uses no more of the
 * language than a pure function of its arguments needs. It has no import, class, `this`, `async`,
 * `any` or assertion of a type, and no global but those of `NAMES`, each in its declared use. A
 * function stands only where it is bound by `const`, passed or called. A computed key stands only
 * behind a part of the state. `typedFaults` checks the rest, for which the types are needed.
 */
export function allowedSource(file: Node, sort: Sort): Allowed {
  const [only, another] = isSourceFile(file) ? file.statements : [];
  const wrapped = only !== undefined && isExpressionStatement(only) ? only.expression : undefined;
  if (another !== undefined || wrapped === undefined || !isParenthesizedExpression(wrapped))
    return { fault: 'it is not one expression' };
  const { expression: root } = wrapped;
  if (sort === 'function' && !isArrowFunction(root))
    return { fault: 'it is not an arrow function' };
  if (sort === 'schema' && !isCallExpression(root))
    return { fault: 'it is not a call that returns a zod schema' };
  const bound = boundNames(root);
  const taken = [...bound.all].find((name) => TAKEN.has(name));
  if (taken !== undefined)
    return { fault: `it declares ${taken}, which has another meaning; choose another name` };
  let fault: string | undefined;
  each(root, (node) => {
    fault ??= syntaxFault(node) ?? useFault(node);
  });
  return fault === undefined ? { source: root.getText() } : { fault };

  function useFault(node: Node): string | undefined {
    if (isIdentifier(node)) return identifierFault(node, sort, bound);
    if (isArrowFunction(node)) return node === root ? undefined : arrowFault(node, sort, bound);
    if (isCallExpression(node)) return calleeFault(node.expression, sort, bound);
    if (isElementAccessExpression(node))
      return sort === 'schema' ? readFault(node) : keyFault(node, bound);
    if (isPropertyAccessExpression(node)) return sort === 'schema' ? readFault(node) : undefined;
    return undefined;
  }
}

function syntaxFault(node: Node): string | undefined {
  if (!isToken(node.kind) && !SYNTAX.has(node.kind))
    return `it has ${SyntaxKind[node.kind]} (${shown(node)}), which a fragment must not have`;
  if (isStringLiteralLikeNode(node))
    return node.parent.kind === SyntaxKind.LiteralType ? undefined : memberFault(node.text);
  if (isNewExpression(node) && !isIdentifier(node.expression))
    return `it makes ${shown(node)}; name the class`;
  if (isTypeOfExpression(node)) return typeofFault(node);
  if (isComputedPropertyName(node) && !isPropertyAssignment(node.parent))
    return `it reads the computed member ${shown(node)}; name the member`;
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword)
    return 'it has the operator in; use Object.hasOwn';
  return targetFault(node);
}

/** A value is assigned to one place, and a loop or a block declares its names. */
function targetFault(node: Node): string | undefined {
  const target = assignedIn(node);
  if (target !== undefined && !isIdentifier(target) && !isPropertyAccessExpression(target))
    if (!isElementAccessExpression(target))
      return `it assigns to a pattern (${shown(target)}); assign each part`;
  if (isForOfStatement(node) && !isVariableDeclarationList(node.initializer))
    return `it has a loop over ${shown(node.initializer)}; declare its name with const`;
  if (isVariableDeclarationList(node) && node.flags & NodeFlags.Using)
    return 'it declares a name with using; use const';
  return undefined;
}

/** Operators and punctuation. A keyword is an operator only if it cannot begin a declaration. */
function isToken(kind: SyntaxKind): boolean {
  return (
    (kind >= SyntaxKind.FirstPunctuation && kind <= SyntaxKind.LastPunctuation) ||
    kind === SyntaxKind.InKeyword
  );
}
