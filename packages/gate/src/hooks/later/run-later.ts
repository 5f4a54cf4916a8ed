interface LaterLine {
  readonly paths: readonly string[];
  readonly source: string;
  /** Of a JSON file: the only member that counts. */
  readonly member?: string;
}

/**
 * Files that git, an editor, a shell or a service runs or obeys later, by the patterns of rules.
 * Each line has the documentation that says so. A Makefile and the like are not listed: only a
 * program that is judged itself, such as `make`, runs them.
 */
export const RUN_LATER: readonly LaterLine[] = [
  line('https://git-scm.com/docs/githooks', '.githooks'),
  // Any folder with a HEAD may be a repository, whose settings git obeys.
  line('https://git-scm.com/docs/gitrepository-layout', '.git', 'HEAD'),
  line('https://git-scm.com/docs/gitattributes', '.gitattributes'),
  line('https://git-scm.com/docs/git-config', '.gitconfig', '.config/git'),
  line('https://typicode.github.io/husky/how-to.html', '.husky', '.huskyrc*'),
  line('https://lefthook.dev/configuration/', 'lefthook.*', '.lefthook*', 'lefthook-local.*'),
  line('https://pre-commit.com/#adding-pre-commit-plugins-to-your-project', '.pre-commit-*'),
  line('https://github.com/lint-staged/lint-staged#configuration', '.lintstagedrc*'),
  line('https://github.com/lint-staged/lint-staged#configuration', 'lint-staged.config.*'),
  line('https://direnv.net/man/direnv.1.html', '.envrc'),
  line('https://mise.jdx.dev/hooks.html', 'mise.toml', '.mise.toml', '.mise'),
  line('https://code.claude.com/docs/en/settings', '.claude'),
  line('https://cursor.com/docs/context/mcp', '.cursor'),
  line('https://geminicli.com/docs/get-started/configuration/', '.gemini'),
  line('https://code.visualstudio.com/docs/debugtest/tasks', '.vscode'),
  line('https://www.jetbrains.com/help/idea/run-debug-configuration.html', '.idea', '.run'),
  line('https://zed.dev/docs/tasks', '.zed'),
  line('https://containers.dev/implementors/spec/', '.devcontainer', '.devcontainer.json'),
  line('https://docs.github.com/en/actions/reference/workflows-and-actions', '.github'),
  line('https://docs.gitlab.com/ci/yaml/', '.gitlab-ci.yml'),
  line('https://docs.npmjs.com/cli/using-npm/config', '.npmrc'),
  members('https://docs.npmjs.com/cli/using-npm/scripts', 'package.json', 'scripts'),
  members(
    'https://github.com/lint-staged/lint-staged#configuration',
    'package.json',
    'lint-staged',
  ),
  members('https://github.com/toplenboren/simple-git-hooks', 'package.json', 'simple-git-hooks'),
  line('https://yarnpkg.com/configuration/yarnrc', '.yarnrc.yml', '.yarnrc', '.yarn'),
  line('https://pnpm.io/pnpmfile', '.pnpmfile.cjs'),
  line('https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html', '.bash*'),
  line('https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html', '.profile'),
  line('https://zsh.sourceforge.io/Doc/Release/Files.html', '.zsh*', '.zprofile', '.zlogin'),
  line('https://fishshell.com/docs/current/language.html#configuration', '.config/fish'),
  line('https://man.openbsd.org/ssh_config', '.ssh'),
  line('https://specifications.freedesktop.org/autostart-spec/latest/', '.config/autostart'),
  line('https://www.freedesktop.org/software/systemd/man/systemd.unit.html', '.config/systemd'),
  line('https://support.apple.com/guide/terminal/apdc6c1077b/mac', 'Library/LaunchAgents'),
];

function line(source: string, ...names: readonly string[]) {
  return { paths: names.map((name) => `**/${name}`), source };
}

function members(source: string, name: string, member: string) {
  return { ...line(source, name), member };
}

/**
 * Files whose reading counts too: they say what an agent may do or what git runs, hold keys, or are
 * those of the server that rules an agent.
 */
const OWN: readonly string[] = [
  ...['.assize', 'assize.yaml', 'assize.config.*', '*.unrecorded.jsonl*', '*.root.key', '*.token'],
  ...['*.db', 'node_modules/assize', 'node_modules/@assize', 'node_modules/.bin/assize'],
  ...['.git/config', '.git/hooks', '.git/info', '.mcp.json', '.claude.json', '.claude/agents'],
  ...['.claude/settings*.json', '.claude/hooks', 'managed-settings.json', '.codex/*.toml'],
  ...['.codex/auth.json', '.codex/hooks', '.codex/hooks.json', '.codex/rules'],
];
/** Folders that have such files beside others: a call that names the folder itself counts. */
const ABOVE_OWN = ['.git', '.claude', '.codex'];

export const OWN_PATHS: readonly string[] = OWN.map((name) => `**/${name}`);

const IS_OWN = new RegExp(
  `(?:^|/)(?:(?:${alternatives(OWN)})(?:/.*)?|${alternatives(ABOVE_OWN)})$`,
  'is',
);

export function isOwnFile(path: string): boolean {
  return IS_OWN.test(path);
}

function alternatives(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('.', '[.]').replaceAll('*', '[^/]*')).join('|');
}
