import { readFileSync } from 'node:fs'

/** The code blocks of a README in one language, each a program of its own. */
export function examplesOf(client: 'typescript' | 'python', fence: string): string[] {
  const readme = readFileSync(new URL(`../../clients/${client}/README.md`, import.meta.url), 'utf8')
  return [...readme.matchAll(new RegExp(`^\`\`\`${fence}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code)
}
