import { type Identifier, type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isExpressionStatement,
  isIdentifier,
  isNewExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isSourceFile,
  isStringLiteralLikeNode,
  isTypeReferenceNode,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';

/** The names of the module and of the language that a fragment may use, and their members. */
const KNOWN: Readonly<Record<string, { readonly members?: string; readonly calls?: true; readonly makes?: true }>> = {
  pass: {},
  reject: { calls: true },
  escalate: { calls: true },
  undefined: {},
  NaN: {},
  Infinity: {},
  Object: { members: 'keys values entries fromEntries hasOwn' },
  Array: { members: 'isArray from of' },
  Math: { members: 'abs ceil floor round trunc sign sqrt max min pow' },
  Number: { members: 'isInteger isSafeInteger isFinite isNaN MAX_SAFE_INTEGER MIN_SAFE_INTEGER', calls: true },
  String: { calls: true },
  Boolean: { calls: true },
  JSON: { members: 'stringify' },
  Date: { members: 'parse UTC' },
  Error: { makes: true },
  Set: { makes: true },
  Map: { makes: true },
  z: {
    members:
      'object strictObject record array tuple string number int boolean enum literal union discriminatedUnion null iso optional nullable',
  },
};

/** Types that a fragment may name. */
const TYPES: ReadonlySet<string> = new Set('Record Readonly ReadonlyArray Array Set Map Partial Pick Omit'.split(' '));

/** Members by which a value leads to its class, and the class to all others. */
const FORBIDDEN_MEMBERS: ReadonlySet<string> = new Set([
  ...'constructor prototype __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__'.split(' '),
  ...'caller callee arguments prepareStackTrace captureStackTrace'.split(' '),
]);

/**
 * Names that no declaration of a fragment may take: the same name elsewhere would mean the global
 * one.
 */
const GLOBALS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...'require module exports arguments eval async await globalThis'.split(' '),
]);

/** The kinds of syntax that a fragment may consist of, besides operators and punctuation. */
const SYNTAX: ReadonlySet<SyntaxKind> = new Set(
  [
    ...'ArrowFunction Parameter Block VariableStatement VariableDeclarationList VariableDeclaration'.split(' '),
    ...'ObjectBindingPattern ArrayBindingPattern BindingElement OmittedExpression Identifier'.split(' '),
    ...'ReturnStatement IfStatement ForOfStatement ForStatement WhileStatement DoStatement BreakStatement'.split(' '),
    ...'ContinueStatement ThrowStatement ExpressionStatement EmptyStatement SwitchStatement CaseBlock CaseClause'.split(
      ' ',
    ),
    ...'DefaultClause CallExpression NewExpression PropertyAccessExpression ElementAccessExpression'.split(' '),
    ...'BinaryExpression PrefixUnaryExpression PostfixUnaryExpression ConditionalExpression'.split(' '),
    ...'ParenthesizedExpression ObjectLiteralExpression PropertyAssignment ShorthandPropertyAssignment'.split(' '),
    ...'SpreadAssignment SpreadElement ArrayLiteralExpression TemplateExpression TemplateHead TemplateMiddle'.split(
      ' ',
    ),
    ...'TemplateTail TemplateSpan NoSubstitutionTemplateLiteral NumericLiteral StringLiteral TrueKeyword'.split(' '),
    ...'FalseKeyword NullKeyword RegularExpressionLiteral DeleteExpression NonNullExpression'.split(' '),
    ...'ComputedPropertyName TypeOfExpression'.split(' '),
    ...'ArrayType TypeReference StringKeyword NumberKeyword BooleanKeyword UnknownKeyword UndefinedKeyword'.split(' '),
    ...'UnionType LiteralType TypeLiteral PropertySignature TypeOperator ReadonlyKeyword TupleType'.split(' '),
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
 * `any` or assertion of a type, and no global but those of `KNOWN`, each in its declared use.
 */
export function allowedSource(file: Node, sort: 'schema' | 'function'): Allowed {
  const [only, another] = isSourceFile(file) ? file.statements : [];
  const wrapped = only !== undefined && isExpressionStatement(only) ? only.expression : undefined;
  if (another !== undefined || wrapped === undefined || !isParenthesizedExpression(wrapped))
    return { fault: 'it is not one expression' };
  const { expression } = wrapped;
  if (sort === 'function' && !isArrowFunction(expression)) return { fault: 'it is not an arrow function' };
  if (sort === 'schema' && !isCallExpression(expression))
    return { fault: 'it is not a call that returns a zod schema' };
  const bound = new Set<string>();
  each(expression, (node) => {
    if (isVariableDeclaration(node) || isParameterDeclaration(node) || isBindingElement(node))
      if (node.name !== undefined && isIdentifier(node.name)) bound.add(node.name.text);
  });
  const taken = [...bound].find((name) => GLOBALS.has(name) || Object.hasOwn(KNOWN, name));
  if (taken !== undefined) return { fault: `it declares ${taken}, which has another meaning; choose another name` };
  let fault: string | undefined;
  each(expression, (node) => {
    fault ??= faultOf(node, bound);
  });
  return fault === undefined ? { source: expression.getText() } : { fault };
}

function faultOf(node: Node, bound: ReadonlySet<string>): string | undefined {
  if (!isToken(node.kind) && !SYNTAX.has(node.kind))
    return `it has ${SyntaxKind[node.kind]} (${shown(node)}), which a fragment must not have`;
  if (isElementAccessExpression(node) && isStringLiteralLikeNode(node.argumentExpression))
    return memberFault(node.argumentExpression.text);
  if (isStringLiteralLikeNode(node))
    return node.parent.kind === SyntaxKind.LiteralType ? undefined : memberFault(node.text);
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword)
    return 'it has the operator in; use Object.hasOwn';
  return isIdentifier(node) ? identifierFault(node, bound) : undefined;
}

function identifierFault(node: Identifier, bound: ReadonlySet<string>): string | undefined {
  const { text, parent } = node;
  if (isPropertyAccessExpression(parent) && parent.name === node) return memberFault(text);
  if (isPropertyAssignment(parent) && parent.name === node) return memberFault(text);
  if (isPropertySignatureDeclaration(parent) && parent.name === node) return memberFault(text);
  if (isBindingElement(parent) && parent.propertyName === node) return memberFault(text);
  if (isTypeReferenceNode(parent)) return TYPES.has(text) ? undefined : `it names the type ${text}`;
  if (bound.has(text)) return memberFault(text);
  const known = Object.hasOwn(KNOWN, text) ? KNOWN[text] : undefined;
  if (known === undefined) return `it uses ${text}, which a fragment must not use`;
  if (known.members === undefined && known.calls === undefined && known.makes === undefined) return undefined;
  if (isCallExpression(parent) && parent.expression === node && known.calls) return undefined;
  if (isNewExpression(parent) && parent.expression === node && known.makes) return undefined;
  if (!isPropertyAccessExpression(parent) || parent.expression !== node)
    return `it uses ${text} as a value; call it, or one of its members, directly`;
  const member = parent.name.text;
  return known.members?.split(' ').includes(member) ? undefined : `it uses ${text}.${member}`;
}

function memberFault(name: string): string | undefined {
  return FORBIDDEN_MEMBERS.has(name) ? `it names the member ${name}` : undefined;
}

/** Operators and punctuation. A keyword is an operator only if it cannot begin a declaration. */
function isToken(kind: SyntaxKind): boolean {
  return (kind >= SyntaxKind.FirstPunctuation && kind <= SyntaxKind.LastPunctuation) || kind === SyntaxKind.InKeyword;
}

function each(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    each(child, visit);
  });
}

function shown(node: Node): string {
  return JSON.stringify(node.getText().slice(0, 60));
}
