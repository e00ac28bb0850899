import type { ComponentChildren } from 'preact'
import type { Search } from '../search/search.ts'

export interface FilterProps {
  search: Search
  /** Sentences of the API by parameter: each stands beside its field. */
  errors: Record<string, string[]>
  onChange(change: Partial<Search>): void
}

/** A group of fields with its name, and what is wrong with it. */
export function Group(props: { label: string; errors?: string[] | undefined; children: ComponentChildren }) {
  return (
    <fieldset class="group">
      <legend>{props.label}</legend>
      {props.children}
      {props.errors !== undefined && (
        <p class="problem" role="alert" lang="en">
          {props.errors.join(' ')}
        </p>
      )}
    </fieldset>
  )
}
