/**
 * Variables that change how a shell reads a command, which program a name means, or what a usual
 * program runs.
 */
const NAMES: ReadonlySet<string> = new Set(
  `BASHOPTS BASH_ENV CDPATH CLASSPATH COMSPEC ENV FPATH GCONV_PATH GLOBIGNORE HOME HISTFILE IFS LESSCLOSE LESSOPEN
  LOCPATH MAKEFILES MAKEFLAGS GNUMAKEFLAGS MODULE_PATH NODE_OPTIONS NULLCMD OLDPWD OPENSSL_CONF OPENSSL_MODULES
  PATH PERL5DB PERL5LIB PERL5OPT PROMPT_COMMAND PS0 PS1 PS2 PS4 PWD PYTHONHOME PYTHONINSPECT PYTHONPATH
  PYTHONSTARTUP PYTHONBREAKPOINT READNULLCMD RUBYLIB RUBYOPT SHELL SHELLOPTS TAR_OPTIONS TERMINFO TZDIR
  BROWSER CC CXX CPP LD AR AS GREP_OPTIONS POSIXLY_CORRECT RSYNC_RSH CVS_RSH ZDOTDIR DOCKER_HOST
  KUBECONFIG RUSTC CARGO_HOME RUSTUP_HOME GOROOT GOPATH VIRTUAL_ENV JAVA_HOME XDG_CONFIG_HOME`
    .split(/\s+/)
    .filter((name) => name !== ''),
);

const STARTS: RegExp =
  /^(?:BASH_|DYLD_|GIT_|LD_|SSH_|SUDO_|npm_|NPM_|YARN_|PNPM_|PIP_|CARGO_|MAVEN_|GRADLE_|ASSIZE_)/i;
const ENDS: RegExp =
  /(?:PATH|_OPTIONS|_?OPTS|FLAGS|_COMMAND|EDITOR|VISUAL|PAGER|ASKPASS|_RSH|_SHELL|_WRAPPER|_PROXY|_PRELOAD|_HOOK)$/i;

/** Whether an assignment to the variable can change what runs. */
export function changesWhatRuns(name: string): boolean {
  return NAMES.has(name.toUpperCase()) || STARTS.test(name) || ENDS.test(name);
}

/** The variable of `NAME=value`, `NAME+=value`, `NAME[index]=value` or `NAME`. */
export function variableOf(text: string): string | undefined {
  return /^([A-Za-z_]\w*)(?:\[[^\]]*\])?(?:\+?=|$)/.exec(text)?.[1];
}
