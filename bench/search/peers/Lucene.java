import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.LongField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.SortedNumericSelector;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Lucene behind lines on standard input and output, so that time is taken beside the engine. Lines
 * in have parts between tabs; lines out are JSON.
 *
 *   Lucene build FOLDER   documents, one a line, and "end" after the last; answers how many there are
 *   Lucene serve FOLDER   a question a line, an answer a line
 */
public class Lucene {
  /** Order of publication (those without a date first, or last), order of ingestion. */
  static final String[] ORDERS = {"place", "rise", "turn"};
  /** Words with positions, then terms without. */
  static final String[] TEXTS = {"title", "body", "title_keys", "keys", "filters"};
  static final int WITH_POSITIONS = 2;
  /** More terms than these are looked up as a set. */
  static final int MANY_TERMS = 16;

  static final BufferedReader in =
      new BufferedReader(new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8), 1 << 20);
  static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] arguments) throws IOException {
    try (MMapDirectory directory = new MMapDirectory(Path.of(arguments[1]))) {
      if (arguments[0].equals("build")) build(directory);
      else serve(directory);
    }
  }

  static void build(MMapDirectory directory) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(256);
    // Documents lie in the order of most pages, so that a search stops when its page is full and
    // its count has reached the cap.
    config.setIndexSort(sortBy("place", false));
    FieldType words = textType(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS);
    FieldType terms = textType(IndexOptions.DOCS);
    IndexWriter writer = new IndexWriter(directory, config);
    out.println("{\"documents\": " + writer.getDocStats().numDocs + "}");
    String line = in.readLine();
    for (; line != null && !line.equals("end"); line = in.readLine()) {
      writer.addDocument(documentOf(line.split("\t", -1), words, terms));
    }
    writer.commit();
    int documents = writer.getDocStats().numDocs;
    // Closing waits for merges; an interruption cannot.
    if (line != null) writer.close();
    else writer.rollback();
    out.println("{\"documents\": " + documents + "}");
  }

  static Document documentOf(String[] parts, FieldType words, FieldType terms) {
    Document document = new Document();
    int at = 0;
    for (String name : ORDERS) document.add(new LongField(name, Long.parseLong(parts[at++]), Field.Store.NO));
    for (int text = 0; text < TEXTS.length; text++) {
      document.add(new Field(TEXTS[text], new Words(parts[at++]), text < WITH_POSITIONS ? words : terms));
    }
    document.add(new StoredField("row", parts[at]));
    return document;
  }

  static FieldType textType(IndexOptions options) {
    FieldType type = new FieldType();
    type.setIndexOptions(options);
    type.setOmitNorms(true);
    type.freeze();
    return type;
  }

  /** The words of a text that are separated by blanks, as they are. */
  static final class Words extends TokenStream {
    private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
    private final String text;
    private int at = 0;

    Words(String text) {
      this.text = text;
    }

    @Override
    public boolean incrementToken() {
      if (at >= text.length()) return false;
      clearAttributes();
      int end = text.indexOf(' ', at);
      if (end < 0) end = text.length();
      term.append(text, at, end);
      at = end + 1;
      return true;
    }
  }

  static void serve(MMapDirectory directory) throws IOException {
    DirectoryReader reader = DirectoryReader.open(directory);
    IndexSearcher searcher = new IndexSearcher(reader);
    out.println("{\"documents\": " + reader.numDocs() + ", \"segments\": " + reader.leaves().size() + "}");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Iterator<String> parts = Arrays.asList(line.split("\t", -1)).iterator();
      long start = System.nanoTime();
      int limit = Integer.parseInt(parts.next());
      int threshold = Integer.parseInt(parts.next());
      Sort sort = sortBy(parts.next(), parts.next().equals("asc"));
      String after = parts.next();
      FieldDoc last = after.isEmpty() ? null : new FieldDoc(Integer.MAX_VALUE, 0, new Object[] {Long.valueOf(after)});
      TopFieldDocs found = searcher.search(queryOf(parts), new TopFieldCollectorManager(sort, limit, last, threshold));
      StoredFields stored = searcher.storedFields();
      List<String> rows = new ArrayList<>(limit);
      for (ScoreDoc one : found.scoreDocs) rows.add(stored.document(one.doc).get("row"));
      double ms = (System.nanoTime() - start) / 1e6;
      out.println("{\"rows\": [" + String.join(",", rows) + "], \"count\": " + found.totalHits.value() + ", \"ms\": " + ms + "}");
    }
  }

  static Sort sortBy(String order, boolean ascending) {
    return new Sort(LongField.newSortField(order, !ascending, SortedNumericSelector.Type.MIN));
  }

  /** Reads a condition: its kind, its field, how many parts it has, its parts. */
  static Query queryOf(Iterator<String> parts) {
    return switch (parts.next()) {
      case "terms" -> anyOf(parts.next(), listOf(parts));
      case "phrase" -> phraseOf(parts.next(), listOf(parts));
      case "range" ->
        LongField.newRangeQuery(parts.next(), Long.parseLong(parts.next()), Long.parseLong(parts.next()) - 1);
      default -> booleanOf(parts);
    };
  }

  static List<String> listOf(Iterator<String> parts) {
    int count = Integer.parseInt(parts.next());
    List<String> list = new ArrayList<>(count);
    while (list.size() < count) list.add(parts.next());
    return list;
  }

  static Query phraseOf(String field, List<String> words) {
    if (words.size() == 1) return new TermQuery(new Term(field, words.get(0)));
    return new PhraseQuery(field, words.toArray(String[]::new));
  }

  static Query anyOf(String field, List<String> terms) {
    if (terms.size() == 1) return new TermQuery(new Term(field, terms.get(0)));
    if (terms.size() > MANY_TERMS) return new TermInSetQuery(field, terms.stream().map(BytesRef::new).toList());
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    for (String term : terms) builder.add(new TermQuery(new Term(field, term)), Occur.SHOULD);
    return builder.build();
  }

  /** Clauses with their occurrence. Without one, everything matches. */
  static Query booleanOf(Iterator<String> parts) {
    int clauses = Integer.parseInt(parts.next());
    if (clauses == 0) return MatchAllDocsQuery.INSTANCE;
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    for (int left = clauses; left > 0; left--) {
      Occur occur = switch (parts.next()) {
        case "and" -> Occur.FILTER;
        case "or" -> Occur.SHOULD;
        default -> Occur.MUST_NOT;
      };
      Query clause = queryOf(parts);
      if (clauses == 1) return clause;
      builder.add(clause, occur);
    }
    return builder.build();
  }
}
